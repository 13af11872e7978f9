/**
 * What an agent does with its browser's profile at the browser's end, and what it takes from whoever drove that
 * browser.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { ProfileSaveState } from "../../../../src/core/protocol/profile-save.ts";
import { openStream } from "../../../../src/core/protocol/sealed-bytes.ts";
import { unpackProfile } from "../../../../src/features/profiles/archive/unpack-profile.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { freeze } from "../../../support/processes.ts";

const agents = createTestAgents();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "profile-save-"));
});
afterEach(async () => {
  await agents[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const saver = async (more: { uses?: boolean; env?: Record<string, string> } = {}): Promise<TestAgent> => {
  const agent = await agents.start({}, { setup: { save_to: "the-profile" }, env: more.env ?? {} });
  await agent.bind("s", 1);
  if (more.uses === false) return agent;
  const browser = await agent.connect("s");
  await browser.newPage();
  await browser.disconnect();
  return agent;
};
const stateOf = async (agent: TestAgent): Promise<ProfileSaveState> =>
  ProfileSaveState.parse((await agent.call("GET", "/profile")).body);
const ended = (agent: TestAgent): Promise<ProfileSaveState> =>
  eventually("the profile is packed", async () => {
    const state = await stateOf(agent);
    return state.is === "running" || state.is === "packing" ? undefined : state;
  });
const download = async ({ baseUrl, podUid, privateKey, agentKey }: TestAgent): Promise<Buffer> => {
  const headers = { authorization: `Bearer ${createAgentTokens(privateKey).tokenFor(podUid)}` };
  const response = await fetch(`${baseUrl}/profile/archive`, { headers });
  if (!response.body) throw new Error("no body");
  const parts: Buffer[] = [];
  for await (const part of openStream(agentKey, response.body as AsyncIterable<Uint8Array>)) parts.push(part);
  return Buffer.concat(parts);
};
const unpacked = async (archive: Buffer): Promise<string[]> => {
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield archive;
  };
  await unpackProfile({ archive: bytes(), folder }, { signal: AbortSignal.timeout(20_000) });
  return readdir(folder, { recursive: true });
};
/** The user-data directory of the agent's browser. */
const profileDir = async ({ dir }: TestAgent): Promise<string> => {
  const browser = (await readdir(dir)).find((name) => name.startsWith("browser-"));
  return join(dir, browser ?? "", "profile");
};

// PROFILE-7
test("an agent that is told to end keeps the profile until it is fetched, serves no lease, and leaves nothing", async () => {
  const agent = await saver();
  expect(await stateOf(agent)).toEqual({ is: "running" });
  expect((await agent.call("DELETE", "/profile")).status).toBe(409);
  expect((await agent.call("GET", "/profile/archive")).status).toBe(404);
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
  const packed = await ended(agent);
  if (packed.is !== "packed") throw new Error(JSON.stringify(packed));
  expect(packed.save_to).toBe("the-profile");
  const archive = await download(agent);
  expect({ bytes: archive.length, sha256: createHash("sha256").update(archive).digest("hex") }).toEqual({
    bytes: packed.bytes,
    sha256: packed.sha256,
  });
  expect(await unpacked(archive)).toContain("Default/Cookies");
  for (const path of ["/profile", "/profile/archive"])
    expect((await agent.call("GET", path, undefined, null)).status).toBe(401);
  expect((await agent.call("DELETE", "/profile", undefined, null)).status).toBe(401);
  expect(await agent.upgrade("s")).toBe(404);
  expect((await agent.bind("other", 2)).status).toBe(503);
  expect((await agent.call("GET", "/state")).body).toMatchObject({ ended: "stopped", lease: null });
  expect((await agent.call("DELETE", "/profile")).status).toBe(200);
  expect(await agent.exited).toBe(0);
  expect(agent.termination()).toMatchObject({ reason: "stopped" });
  expect((await readdir(agent.dir)).sort()).toEqual(["archives", "termination-log"]);
});

// PROFILE-7
test("a browser that nobody has used packs nothing", async () => {
  const agent = await saver({ uses: false });
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
  expect(await ended(agent)).toMatchObject({ is: "unused" });
  expect((await agent.call("GET", "/profile/archive")).status).toBe(404);
  await agent.call("DELETE", "/profile");
  expect(await agent.exited).toBe(0);
});

// PROFILE-7
test("the idle timeout packs, and a stop that comes then does not end the agent; one at once does", async () => {
  const agent = await agents.start({}, { setup: { save_to: "the-profile" } });
  await agent.bind("s", 1, { timeout_seconds: 1 });
  await (await agent.connect("s")).disconnect();
  expect(await ended(agent)).toMatchObject({ is: "packed" });
  expect((await agent.call("GET", "/state")).body).toMatchObject({ ended: "timeout" });
  agent.child.kill("SIGTERM");
  expect(await stateOf(agent)).toMatchObject({ is: "packed" });
  agent.child.kill("SIGINT");
  expect(await agent.exited).toBe(0);
  expect(agent.termination()).toMatchObject({ reason: "timeout" });
});

// PROFILE-7
test("a crash packs nothing", async () => {
  const agent = await saver();
  for (const group of agent.groups()) process.kill(-group, "SIGKILL");
  expect(await agent.exited).toBe(1);
  expect(agent.termination()).toMatchObject({ reason: "browser_crashed" });
});

// PROFILE-7
test("a Chromium that crashes while it closes packs nothing, and that is told", async () => {
  const agent = await saver();
  for (const group of agent.groups()) await freeze(-group);
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
  await eventually("it is closed", async () => (await stateOf(agent)).is === "packing");
  for (const group of agent.groups()) process.kill(-group, "SIGKILL");
  expect(await ended(agent)).toMatchObject({ is: "failed", why: expect.stringContaining("did not close in order") });
  expect((await agent.call("GET", "/profile/archive")).status).toBe(404);
});

// PROFILE-17, PROFILE-19
test("links, pipes and sockets that a holder has put there lead nowhere", async () => {
  const agent = await saver();
  const profile = await profileDir(agent);
  await writeFile(join(folder, "secret"), "of the machine");
  await symlink(join(folder, "secret"), join(profile, "Default/Link"));
  await symlink(folder, join(profile, "Default/Folder"));
  spawnSync("mkfifo", [join(profile, "Default/Pipe")]);
  await rm(join(profile, "Local State"), { force: true });
  await symlink("/etc/hostname", join(profile, "Planted"));
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
  expect(await ended(agent)).toMatchObject({ is: "packed" });
  const names = await unpacked(await download(agent));
  expect(names).toContain("Default/Cookies");
  for (const planted of ["Default/Link", "Default/Folder", "Default/Pipe", "Planted"])
    expect(names).not.toContain(planted);
});

type Planting = (profile: string) => Promise<void>;

const sparse: Planting = async (profile) => {
  await using file = await open(join(profile, "Default/huge"), "w");
  await file.truncate(1024 ** 4);
};
const files =
  (count: number, target?: string): Planting =>
  async (profile) => {
    const names = join(profile, "Default/many");
    await mkdir(names);
    const left = Array.from({ length: count }, (_, index) => join(names, `${index}`)).values();
    const plant = async (): Promise<void> => {
      for (const name of left) await (target === undefined ? writeFile(name, "") : symlink(target, name));
    };
    await Promise.all(Array.from({ length: 32 }, plant));
  };
const deep: Planting = async (profile) => {
  await mkdir(join(profile, "Default", ...Array.from({ length: 40 }, () => "d")), { recursive: true });
};

// PROFILE-18, PROFILE-21
test.each([
  ["a huge sparse file", sparse, "more than 1024 MiB"],
  ["more files than a profile has", files(50_001), "more than 50000 files"],
  ["a hundred thousand links", files(100_001, "/etc/passwd"), "more than 50000 files"],
  ["a path that no browser would load", deep, "a path that is too long"],
])("%s: the save is refused with its reason, and the agent says so", async (_what, plant, why) => {
  const agent = await saver();
  await plant(await profileDir(agent));
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
  expect(await ended(agent)).toMatchObject({ is: "failed", why: expect.stringContaining(why) });
  expect((await agent.call("GET", "/profile/archive")).status).toBe(404);
  await agent.call("DELETE", "/profile");
  expect(await agent.exited).toBe(0);
});
