/** The phase in which an agent waits for its browser's setup, with an operator that errs, repeats itself or is none. */
import { createHash, createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { nonceHeader, proofHeader, proofOf } from "../../../src/core/protocol/agent-proof.ts";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { maxSetupBytes } from "../../../src/core/protocol/browser-setup.ts";
import { sealStream, sealText } from "../../../src/core/protocol/sealed-bytes.ts";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";
import { writeZip } from "../../support/zip-writer.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

const sha256 = (text: string): string => createHash("sha256").update(text, "latin1").digest("hex");
const archive = (text: string) => ({
  id: "extension",
  name: "an extension",
  sha256: sha256(text),
  bytes: Buffer.byteLength(text, "latin1"),
});

/** An extension that does nothing. */
const extension = (name: string): string =>
  writeZip([
    { name: "manifest.json", content: JSON.stringify({ manifest_version: 3, name, version: "1.0" }) },
  ]).toString("latin1");

const putSetup = ({ call, agentKey }: TestAgent, setup: unknown) =>
  call("PUT", "/setup", sealText(agentKey, typeof setup === "string" ? setup : JSON.stringify(setup)));

const sealed = async ({ agentKey }: TestAgent, text: string): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of sealStream(agentKey, [Buffer.from(text, "latin1")])) parts.push(part);
  return Buffer.concat(parts);
};
const putArchive = async (agent: TestAgent, path: string, text: string) =>
  agent.call("PUT", `/archives/${path}`, await sealed(agent, text));

const readiness = async ({ baseUrl }: TestAgent): Promise<{ status: number; code?: string } | undefined> => {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  return answer && { status: answer.status, ...((await answer.json()) as { code?: string }) };
};

const waiting = async (env: Record<string, string> = {}): Promise<TestAgent> => {
  const agent = await agents.start({ awaits_setup: true }, { ready: false, env });
  await eventually("it waits", async () => (await readiness(agent))?.code === "awaits_setup");
  return agent;
};
const ready = (agent: TestAgent): Promise<unknown> =>
  eventually("the browser is ready", async () => (await readiness(agent))?.status === 200);
const archives = ({ dir }: TestAgent): string[] => readdirSync(join(dir, "archives"));
const missing = (answer: { body: unknown }): unknown => (answer.body as { missing?: unknown }).missing;

/** Sends an archive in parts. */
const upload = (agent: TestAgent, digest: string) => {
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  const sent = request(`${agent.baseUrl}/archives/${digest}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
  });
  sent.on("error", () => undefined);
  onTestFinished(() => void sent.destroy());
  return sent;
};

test("a setup with archives is complete when the last of them is there, and each call can be repeated", async () => {
  const agent = await waiting();
  const [one, two] = [extension("one"), extension("two")];
  const setup = { policy: {}, extensions: [archive(one), archive(two), archive(one)] };
  for (const _ of [1, 2]) expect(missing(await putSetup(agent, setup))).toEqual([sha256(one), sha256(two)]);
  for (const _ of [1, 2]) expect(missing(await putArchive(agent, sha256(one), one))).toEqual([sha256(two)]);
  expect((await agent.call("GET", "/readyz")).status).toBe(503);
  expect(existsSync(agent.groupsFile)).toBe(false);
  expect(missing(await putArchive(agent, sha256(two), two))).toEqual([]);
  await ready(agent);
  expect(archives(agent).sort()).toEqual([sha256(one), sha256(two)].sort());
});

test("a setup replaces the one before it, whose archives stay where they are also wanted", async () => {
  const agent = await waiting();
  const [old, both] = [extension("old"), extension("both")];
  await putSetup(agent, { extensions: [archive(old), archive(both)] });
  await putArchive(agent, sha256(both), both);
  expect(missing(await putSetup(agent, { extensions: [archive(both)] }))).toEqual([]);
  await ready(agent);
});

test.each([
  ["of another text", "x".repeat(13)],
  ["that is too short", "first archiv"],
  ["that is too long", "first archive and more"],
  ["that is empty", ""],
])("an archive %s is refused and not kept, and the right one is taken after it", async (_, text) => {
  const agent = await waiting();
  const wanted = archive("first archive");
  await putSetup(agent, { extensions: [wanted] });
  const refused = await putArchive(agent, wanted.sha256, text);
  expect([refused.status, refused.body.code]).toEqual([400, "bad_request"]);
  expect(archives(agent)).toEqual([]);
  expect(missing(await putArchive(agent, wanted.sha256, "first archive"))).toEqual([]);
});

test("an archive that no setup names is refused", async () => {
  const agent = await waiting();
  expect((await putArchive(agent, sha256("a"), "a")).status).toBe(404);
  await putSetup(agent, { extensions: [archive("b")] });
  for (const path of [sha256("a"), "", "..", "%2e%2e%2fprocess-groups", `x/${sha256("c")}`])
    expect((await putArchive(agent, path, "a")).status).toBe(404);
  expect(archives(agent)).toEqual([]);
});

test("an archive that is sent twice at the same time takes its room on the disk once", async () => {
  const agent = await waiting();
  const text = extension("x".repeat(40));
  await putSetup(agent, { extensions: [archive(text)] });
  const uploads = [];
  for (let index = 0; index < 20; index += 1) {
    const sent = upload(agent, sha256(text));
    uploads.push(sent);
    sent.write((await sealed(agent, text)).subarray(0, 30));
    const before = uploads.at(-2);
    if (before) await eventually("the one before is cut", () => before.destroyed);
    await eventually("it is being written", () => archives(agent).length === 1);
  }
  expect(missing(await putArchive(agent, sha256(text), text))).toEqual([]);
  await ready(agent);
  expect(archives(agent)).toEqual([sha256(text)]);
});

test("an upload whose sender dies leaves nothing", async () => {
  const agent = await waiting();
  await putSetup(agent, { extensions: [archive("some text")] });
  const sent = upload(agent, sha256("some text"));
  sent.write((await sealed(agent, "some text")).subarray(0, 20));
  await eventually("it is being written", () => archives(agent).length === 1);
  sent.destroy();
  await eventually("it is gone", () => archives(agent).length === 0);
});

test.each([
  ["no JSON", "{"],
  ["another type", "[]"],
  ["a digest that is none", { extensions: [{ sha256: "../../etc/passwd", bytes: 1 }] }],
  ["a negative length", { extensions: [{ sha256: sha256(""), bytes: -1 }] }],
  ["too many extensions", { extensions: Array.from({ length: 21 }, () => archive("a")) }],
  ["a proxy without a host", { network: { proxies: [{ id: "a", protocol: "http", host: "", port: 1 }] } }],
  ["a pattern that is too long", { network: { allowed_hosts: ["a".repeat(256)] } }],
])("a setup with %s is refused, and a good one is taken after it", async (_, setup) => {
  const agent = await waiting();
  expect((await putSetup(agent, setup)).status).toBe(400);
  expect((await putSetup(agent, {})).status).toBe(200);
  await ready(agent);
});

test("a setup or archive that another key has sealed, or none, is refused", async () => {
  const agent = await waiting();
  const other = createSecretKey(randomBytes(32));
  expect((await agent.call("PUT", "/setup", "{}")).status).toBe(400);
  expect((await agent.call("PUT", "/setup", sealText(other, "{}"))).status).toBe(400);
  await putSetup(agent, { extensions: [archive("some text")] });
  expect((await agent.call("PUT", `/archives/${sha256("some text")}`, "some text")).status).toBe(400);
  expect((await readiness(agent))?.code).toBe("awaits_setup");
});

test("a setup that is too large is refused", async () => {
  const agent = await waiting();
  const answer = await agent
    .call("PUT", "/setup", { policy: { a: "x".repeat(maxSetupBytes) } })
    .catch(() => ({ status: 413 }));
  expect(answer.status).toBe(413);
  expect((await readiness(agent))?.code).toBe("awaits_setup");
});

test.each([
  ["/setup", "PUT"],
  [`/archives/${sha256("")}`, "PUT"],
  ["/lease", "PUT"],
  ["/state", "GET"],
])("%s takes no call without a token for this agent", async (path, method) => {
  const agent = await waiting();
  const other = createAgentTokens(agent.privateKey).tokenFor(randomUUID());
  for (const token of [null, "x", other])
    expect((await agent.call(method, path, method === "GET" ? undefined : {}, token)).status).toBe(401);
  expect((await readiness(agent))?.code).toBe("awaits_setup");
});

test("an answer proves that it comes from the pod's agent", async () => {
  const agent = await waiting();
  const nonce = randomBytes(16).toString("base64url");
  const answer = await fetch(`${agent.baseUrl}/setup`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${createAgentTokens(agent.privateKey).tokenFor(agent.podUid)}`,
      [nonceHeader]: nonce,
    },
    body: new Uint8Array(sealText(agent.agentKey, JSON.stringify({ extensions: [archive("a")] }))),
  });
  const body = await answer.text();
  const call = { nonce, method: "PUT", path: "/setup", status: 200, body };
  expect(answer.headers.get(proofHeader)).toBe(proofOf(agent.agentKey, call));
});

test("an agent that is told to stop while it waits ends at once", async () => {
  const agent = await waiting();
  await putSetup(agent, { extensions: [archive("a")] });
  agent.child.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
  expect(agent.termination()?.reason).toBe("stopped");
});

test("an agent starts over what a former one has received, whose folder is closed", async () => {
  const first = await waiting();
  await putSetup(first, { extensions: [archive("a"), archive("b")] });
  await putArchive(first, sha256("a"), "a");
  expect(archives(first)).toEqual([sha256("a")]);
  const folder = join(first.dir, "archives");
  first.child.kill("SIGTERM");
  await first.exited;
  if (!existsSync(folder)) mkdirSync(folder);
  writeFileSync(join(folder, "old"), "x");
  chmodSync(folder, 0o500);
  const second = await waiting({ BROWSERPOOL_AGENT_DATA_DIR: first.dir });
  expect(readdirSync(folder)).toEqual([]);
  second.child.kill("SIGTERM");
  await second.exited;
});
