/** A browser that is changed for its holder: who may do it, and what is left when something goes wrong. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { sealText } from "../../../src/core/protocol/sealed-bytes.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../src/local/required-program.ts";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { changeBrowser, refOf, sendArchive } from "../../support/change-agent.ts";
import { eventually } from "../../support/eventually.ts";
import { profileThatVisited } from "../../support/profile-archive.ts";

const agents = createTestAgents();
let site: Server;
let siteUrl: string;
let archive: Buffer;

beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/login") response.setHeader("Set-Cookie", "login=1; Max-Age=86400; Path=/");
    response.end(request.headers.cookie ?? "none");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  archive = await profileThatVisited(`${siteUrl}/login`);
});
afterEach(() => agents[Symbol.asyncDispose]());
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const load = () => ({ profile: { archive: refOf(archive) } });

/** Sends all of the change but the call that carries it out. */
const prepare = async (agent: TestAgent, seq: number): Promise<void> => {
  expect((await changeBrowser(agent, seq, { ...load(), apply: false })).body).toEqual({
    missing: [refOf(archive).sha256],
  });
  expect((await sendArchive(agent, archive)).body).toEqual({ missing: [] });
};

/** What the site finds in the browser of this lease. */
const cookiesIn = async (agent: TestAgent, seq: number): Promise<string> => {
  const client = await agent.connect(`s${seq}`);
  const page = await client.newPage();
  await page.goto(siteUrl);
  const found = (await page.evaluate("document.body.innerText")) as string;
  await client.disconnect();
  return found;
};

const isKept = (agent: TestAgent): boolean => existsSync(join(agent.dir, "archives-of-change", refOf(archive).sha256));

// PROFILE-25, BROWSER-28
test.each(["keep", "reset"] as const)(
  "a profile is there after a new start for the same lease, and for no other one; its pool hands on by %s",
  async (reuse) => {
    const agent = await agents.start({ headless: true });
    await agent.bind("s1", 1);
    const socket = await agent.upgrade("s1");
    if (typeof socket === "number") throw new Error(`refused with ${socket}`);
    const cut = new Promise((resolve) => socket.once("close", resolve));
    await prepare(agent, 1);
    expect(isKept(agent)).toBe(true);
    expect(await changeBrowser(agent, 1, load())).toMatchObject({ status: 200, body: { missing: [] } });
    await cut;
    expect(await cookiesIn(agent, 1)).toBe("login=1");
    // A caller that did not get the answer repeats the call: nothing starts again.
    const client = await agent.connect("s1");
    expect(await changeBrowser(agent, 1, load())).toMatchObject({ status: 200 });
    expect(client.connected).toBe(true);
    expect(await changeBrowser(agent, 1, { profile: {} })).toMatchObject({
      status: 409,
      body: { code: "profile_loaded" },
    });

    await agent.release("s1", 1, reuse);
    await agent.call("GET", "/reset");
    expect(isKept(agent)).toBe(false);
    await agent.bind("s2", 2);
    expect(await cookiesIn(agent, 2)).toBe("none");
  },
);

// BROWSER-28
test("an archive that was sent and never used is not left for the next holder", async () => {
  const agent = await agents.start({ headless: true });
  await agent.bind("s1", 1);
  await prepare(agent, 1);
  await agent.release("s1", 1, "keep");
  await agent.call("GET", "/reset");
  expect(isKept(agent)).toBe(false);
});

// BROWSER-28
test("only the lease that holds the browser changes it, by what is sealed for this agent", async () => {
  const agent = await agents.start({ headless: true });
  const notHolder = { status: 409, body: { code: "not_holder" } };
  const viewport = { width: 640, height: 480, refresh_rate: 60 };
  expect(await changeBrowser(agent, 1, { viewport })).toMatchObject(notHolder);
  await agent.bind("s1", 1);
  await agent.release("s1", 1);
  await agent.bind("s2", 2);
  expect(await changeBrowser(agent, 1, { viewport })).toMatchObject(notHolder);
  expect(await changeBrowser(agent, 2, { viewport, session_id: "s1" })).toMatchObject(notHolder);
  expect(await changeBrowser(agent, 1, { ...load(), apply: false })).toMatchObject(notHolder);
  expect(await sendArchive(agent, archive)).toMatchObject({ status: 404 });
  const whole = { session_id: "s2", epoch: 1, seq: 2, apply: true, viewport };
  expect(await agent.call("PUT", "/change", whole)).toMatchObject({ status: 400 });
  const elsewhere = { ...agent, agentKey: (await agents.start({ headless: true })).agentKey };
  expect(await changeBrowser(elsewhere, 2, { viewport })).toMatchObject({ status: 400 });
  expect(await agent.call("PUT", "/change", sealText(agent.agentKey, "{}"), null)).toMatchObject({ status: 401 });
});

// PROFILE-19, PROFILE-25
test("a profile that can't be loaded changes nothing: its holder goes on as before", async () => {
  const broken = Buffer.from("not an archive");
  const agent = await agents.start({ headless: true });
  await agent.bind("s1", 1);
  const client = await agent.connect("s1");
  const [page] = await client.pages();
  await page?.setContent("<title>still here</title>");
  const wanted = { profile: { archive: refOf(broken) }, viewport: { width: 640, height: 480, refresh_rate: 60 } };
  await changeBrowser(agent, 1, { ...wanted, apply: false });
  expect(await sendArchive(agent, Buffer.from("another text!!"))).toMatchObject({ status: 404 });
  await sendArchive(agent, broken);
  expect(await changeBrowser(agent, 1, wanted)).toMatchObject({ status: 409, body: { code: "profile_refused" } });
  expect(await page?.title()).toBe("still here");
  expect(await page?.evaluate("innerWidth")).toBe(800);
});

/** A Chromium that starts only when it is let; `path`: of the program. */
const heldChromium = async () => {
  const folder = await mkdtemp(join(tmpdir(), "held-chromium-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, held] = [join(folder, "chromium"), join(folder, "held")];
  const program = requiredProgram(locatePrograms(process.env), "chromium");
  const waits = `while [ -e ${held} ]; do sleep 0.02; done`;
  await writeFile(path, `#!/bin/sh\n${waits}\nexec ${program} "$@"\n`, { mode: 0o755 });
  return { path, hold: () => writeFile(held, ""), letGo: () => rm(held) };
};

// BROWSER-28
test("a caller that hangs up has the change carried out, and the end of the lease breaks it off", async () => {
  const chromium = await heldChromium();
  // With a profile it is the full one; each lease begins in the other one.
  const agent = await agents.start({ headless: true }, { env: { BROWSERPOOL_CHROMIUM: chromium.path } });
  for (const seq of [1, 2]) {
    await agent.bind(`s${seq}`, seq);
    await prepare(agent, seq);
    const client = await agent.connect(`s${seq}`);
    const cut = new Promise((resolve) => client.once("disconnected", resolve));
    await chromium.hold();
    const asked = changeBrowser(agent, seq, load());
    await cut;
    expect(await agent.upgrade(`s${seq}`)).toBe(503);
    if (seq === 1) {
      // Another caller repeats the call: it waits for the first.
      const again = changeBrowser(agent, 1, load());
      await chromium.letGo();
      expect(await again).toMatchObject({ status: 200 });
      expect(await asked).toMatchObject({ status: 200 });
      expect(await cookiesIn(agent, 1)).toBe("login=1");
    }
    await agent.release(`s${seq}`, seq, "reset");
    if (seq === 2) expect(await asked).toMatchObject({ status: 409, body: { code: "not_holder" } });
    await agent.call("GET", "/reset");
  }
  await agent.bind("s3", 3);
  expect(await cookiesIn(agent, 3)).toBe("none");
  expect(isKept(agent)).toBe(false);
});

// BROWSER-28
test("a Chromium that does not come back ends the browser with the reason", async () => {
  const agent = await agents.start({ headless: true }, { env: { BROWSERPOOL_CHROMIUM: "/bin/false" } });
  await agent.bind("s1", 1);
  await prepare(agent, 1);
  await changeBrowser(agent, 1, load()).catch(() => undefined);
  await agent.exited;
  expect(agent.termination()).toMatchObject({ reason: "reset_failed" });
  await eventually("no folder is left", () => !existsSync(join(agent.dir, "archives-of-change")));
});

// LEASE-45
test("the request of a lease is the changed one from then on", async () => {
  const agent = await agents.start({ headless: true });
  await agent.bind("s1", 1);
  await changeBrowser(agent, 1, { viewport: { width: 640, height: 480 }, request: '{"changed":{}}' });
  expect((await agent.call("GET", "/state")).body.lease).toMatchObject({ request: '{"changed":{}}' });
});
