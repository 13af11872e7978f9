/** What a holder reads of its browser's logs, at the agent. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { type LogLine, type LogSource, logPath } from "../../../../src/features/logs/agent/api.ts";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";

const agents = createTestAgents();
let agent: TestAgent;
/** Speaks no TLS, so that Chromium complains of it. */
let site: Server;
let seq = 0;

beforeAll(async () => {
  site = createServer((_request, response) => response.end("<title>plain</title>"));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  agent = await agents.start();
});
afterAll(async () => {
  site.close();
  site.closeAllConnections();
  await agents[Symbol.asyncDispose]();
});

const bind = async (session: string, of = agent): Promise<number> => {
  seq += 1;
  expect((await of.bind(session, seq)).status).toBe(200);
  return seq;
};

const ask = (session: string, source: LogSource, { follow = false, of = agent } = {}): Promise<Response> =>
  fetch(of.baseUrl + logPath({ session, source, follow }), {
    headers: { authorization: `Bearer ${createAgentTokens(of.privateKey).tokenFor(of.podUid)}` },
  });

const parsed = (sent: string): string[] =>
  sent
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as LogLine).message);

const messages = async (session: string, source: LogSource, of = agent): Promise<string[]> => {
  const answer = await ask(session, source, { of });
  expect(answer.status).toBe(200);
  return parsed(await answer.text());
};

/** Has Chromium write a line to its log. */
const complain = async (session: string, of = agent): Promise<void> => {
  const client = await of.connect(session);
  const page = await client.newPage();
  const url = `https://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  await page.goto(url).catch(() => undefined);
  const says = async (): Promise<boolean> =>
    (await messages(session, "chromium", of)).some((line) => line.includes("handshake failed"));
  await eventually("Chromium complains", says);
  await page.close();
  await client.disconnect();
};

const handshake = expect.stringMatching(/handshake failed/);

// LOG-1, LOG-3
test.each(["keep", "reset"] as const)(
  "a holder reads its own lines, and nothing of the one before (%s)",
  async (reuse) => {
    const first = await bind(`first-${reuse}`);
    await complain(`first-${reuse}`);
    expect(await messages(`first-${reuse}`, "chromium")).toContainEqual(handshake);
    expect(await messages(`first-${reuse}`, "agent")).toEqual(["info lease bound"]);
    await expect.poll(agent.log).toContain(`first-${reuse}`);
    await agent.release(`first-${reuse}`, first, reuse);
    expect((await ask(`first-${reuse}`, "chromium")).status).toBe(404);
    await agent.call("GET", "/reset");

    const second = await bind(`second-${reuse}`);
    expect((await ask(`first-${reuse}`, "chromium")).status).toBe(404);
    expect(await messages(`second-${reuse}`, "chromium")).not.toContainEqual(handshake);
    expect(await messages(`second-${reuse}`, "agent")).toEqual(["info lease bound"]);
    await agent.release(`second-${reuse}`, second);
  },
);

// LOG-2
test("who follows a log gets its lines as they come, and its end with the lease", async () => {
  const fence = await bind("followed");
  const answer = await ask("followed", "chromium", { follow: true });
  const got: string[] = [];
  const whole = text(
    answer.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          got.push(new TextDecoder().decode(chunk));
          controller.enqueue(chunk);
        },
      }),
    ) as ReadableStream<Uint8Array>,
  );
  await complain("followed");
  await eventually("the line has come", () => parsed(got.join("")).some((line) => line.includes("handshake failed")));
  await agent.release("followed", fence);
  expect(parsed(await whole)).toContainEqual(handshake);
});

test("only the session that holds the browser is served, and only with a token", async () => {
  const fence = await bind("holder");
  expect((await ask("other", "chromium")).status).toBe(404);
  expect((await ask("holder", "/etc/passwd" as LogSource)).status).toBe(400);
  expect(
    (await agent.call("GET", logPath({ session: "holder", source: "agent", follow: true }), undefined, null)).status,
  ).toBe(401);
  await agent.release("holder", fence);
});

// LOG-5
test("what pages say on their consoles is in no log; one that had it would show it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "logs-test-"));
  try {
    const program = join(folder, "chromium");
    const chromium = locatePrograms()["chromium-headless-shell"];
    // Of two flags of a name Chromium takes the last one.
    await writeFile(program, `#!/bin/sh\nexec '${chromium}' "$@" --log-level=0\n`, { mode: 0o755 });
    const talkative = await agents.start({}, { env: { BROWSERPOOL_CHROMIUM_HEADLESS: program } });
    const secret = "correct-horse-battery";
    const others = [agent, await agents.start({ stealth: true })];
    for (const of of [talkative, ...others]) {
      await bind("console", of);
      const client = await of.connect("console");
      const page = await client.newPage();
      await page.setContent("<input id=pw type=password>");
      await page.type("#pw", secret);
      await page.evaluate(`console.error("typed", document.querySelector("#pw").value)`);
      await client.disconnect();
      // What was said before this has arrived by then.
      await complain("console", of);
    }
    const finds = async (of: TestAgent): Promise<boolean> =>
      (await messages("console", "chromium", of)).join("\n").includes(secret);
    expect(await finds(talkative)).toBe(true);
    for (const of of others) expect(await finds(of)).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});
