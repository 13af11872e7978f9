/** Recordings of leases, from a real agent to the API's client. */
import { createSecretKey, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgentStreams } from "../../../../src/core/leases/agent/agent-stream.ts";
import { newId } from "../../../../src/core/objects/new-id.ts";
import { createAgentKeys, newPodSuffix } from "../../../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { createRecordingClient, type RecordingClient } from "../../../../src/features/recordings/agent-client.ts";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../../src/local/required-program.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Colour, coloursOf, isNear } from "../../../support/recording-video.ts";

const agents = createTestAgents();
const keys = createAgentKeys(createSecretKey(randomBytes(32)));
const clients = new AsyncDisposableStack();
/** An agent, where it is, and the API's client of it. */
type Recorder = { agent: TestAgent; place: { browser: string; pod: string; address: string }; client: RecordingClient };
const startRecorder = async (env: Record<string, string> = {}): Promise<Recorder> => {
  const pod = `pool-${newPodSuffix()}`;
  const agent = await agents.start({}, { agentKey: keys.keyOf(pod), env });
  const deps = { tokens: createAgentTokens(agent.privateKey), keys };
  const streams = clients.adopt(createAgentStreams(deps), (each) => each.close());
  const client = clients.adopt(createRecordingClient(deps, streams), (each) => each.close());
  return { agent, place: { browser: agent.podUid, pod, address: new URL(agent.baseUrl).host }, client };
};

let recorder: Recorder;
let agent: TestAgent;
let client: RecordingClient;
let place: Recorder["place"];
let seq = 0;
beforeAll(async () => {
  recorder = await startRecorder();
  ({ agent, client, place } = recorder);
});
afterAll(async () => {
  await clients.disposeAsync();
  await agents[Symbol.asyncDispose]();
});

const bind = async (session: string): Promise<number> => {
  seq += 1;
  expect((await agent.bind(session, seq)).status).toBe(200);
  return seq;
};
const show = async (session: string, colour: string): Promise<void> => {
  const browser = await agent.connect(session);
  const page = (await browser.pages())[0] ?? (await browser.newPage());
  await page.goto(`data:text/html,<title>${colour}</title><body style="background:${colour}">`);
  await browser.disconnect();
};
const wanted = (session: string, ofSeq: number) => {
  const lease = { session_id: session, epoch: 1, seq: ofSeq };
  return { ...lease, framerate: 20, seconds: 60, max_bytes: 10e6 };
};
const start = (session: string, ofSeq: number, id = newId()) => client.start(place, id, wanted(session, ofSeq));

const red: Colour = [255, 0, 0];
const blue: Colour = [0, 0, 255];

/** Reads a recording from now on. */
const follow = (session: string, id: string, { client, place } = recorder) => {
  let bytes = Buffer.alloc(0);
  const end = (async () => {
    const opened = await client.read(place, { session, id, after: 0 }, AbortSignal.timeout(30_000));
    if (opened.kind !== "ok") throw new Error(JSON.stringify(opened));
    for await (const piece of opened.pieces) {
      if ("end" in piece) return piece.end;
      bytes = Buffer.concat([bytes, piece.bytes]);
    }
    throw new Error("the stream has no end");
  })();
  return { end, bytes: () => bytes };
};
/** What the open files of a process have that have no name any more. */
const openDeletedFiles = async (pid: number): Promise<Buffer[]> => {
  const folder = `/proc/${pid}/fd`;
  const isVideo = (to: string): boolean => /kept-.*\(deleted\)$/.test(to);
  const found: Buffer[] = [];
  for (const name of await readdir(folder)) {
    const to = await readlink(`${folder}/${name}`).catch(() => "");
    if (isVideo(to)) found.push(await readFile(`${folder}/${name}`));
  }
  return found;
};
const hasColour = async (video: Buffer, colour: Colour): Promise<boolean> =>
  (await coloursOf(video)).some((each) => isNear(each, colour));

// REPLAY-5
test("a recording is read as it grows, ends with its lease, and is for no other session", async () => {
  const id = newId();
  const first = await bind("first");
  await show("first", "red");
  expect(await start("first", first, id)).toMatchObject({ kind: "ok" });
  // The same call again is the same recording.
  expect(await start("first", first, id)).toMatchObject({ kind: "ok" });
  const { end, bytes } = follow("first", id);
  await eventually("the red page is in it", async () => (await hasColour(bytes(), red)) || undefined);
  await agent.release("first", first);
  const second = await bind("second");
  await show("second", "blue");
  expect(await end).toBe("lease_over");
  expect(await hasColour(bytes(), blue)).toBe(false);

  const ofOther = await client.read(place, { session: "second", id, after: 0 }, AbortSignal.timeout(5000));
  expect(ofOther).toEqual({ kind: "refused", code: "not_found" });
  expect(await client.stop(place, { session: "second", id })).toEqual({ kind: "refused", code: "not_found" });
  expect(await start("first", first)).toEqual({ kind: "refused", code: "not_holder" });
  // It has no name on the disk.
  expect((await readdir(agent.dir, { recursive: true })).filter((name) => name.includes("kept-"))).toEqual([]);
  // The next holder's Chromium runs as the agent's user and could open what the agent has open: no part of the video is
  // to be seen there.
  const files = await openDeletedFiles(agent.child.pid ?? 0);
  expect(files.map(({ length }) => length)).toEqual([bytes().length]);
  for (const at of [0, 1000, bytes().length - 100])
    expect(files.some((file) => file.includes(bytes().subarray(at, at + 16)))).toBe(false);
  // A further reader begins anywhere.
  const rest = await client.read(place, { session: "first", id, after: 100 }, AbortSignal.timeout(5000));
  if (rest.kind !== "ok") throw new Error(rest.kind);
  for await (const piece of rest.pieces)
    if ("bytes" in piece) {
      expect(piece.bytes.equals(bytes().subarray(100, 100 + piece.bytes.length))).toBe(true);
      break;
    }
  expect(await client.stored(place, { session: "first", id })).toMatchObject({ kind: "ok" });
  expect(await client.stored(place, { session: "first", id })).toEqual({ kind: "refused", code: "not_found" });
  await agent.release("second", second);
});

// REPLAY-1, REPLAY-8
test("a browser has one recording at a time, and three videos that nobody has stored", async () => {
  const session = "many";
  const ofSeq = await bind(session);
  const ids = [newId(), newId(), newId()];
  for (const id of ids) {
    expect(await start(session, ofSeq, id)).toMatchObject({ kind: "ok" });
    expect(await start(session, ofSeq)).toEqual({ kind: "refused", code: "replay_in_progress" });
    await client.stop(place, { session, id });
    expect(await follow(session, id).end).toBe("stopped");
  }
  expect(await start(session, ofSeq)).toEqual({ kind: "refused", code: "too_many_requests" });
  await client.stored(place, { session, id: ids[0] ?? "" });
  expect(await start(session, ofSeq)).toMatchObject({ kind: "ok" });
  const refused = await client.start(place, newId(), { ...wanted(session, ofSeq), framerate: 25 });
  expect(refused).toEqual({ kind: "refused", code: "bad_request" });
  await agent.release(session, ofSeq);
});

/** ffmpeg on a slow disk: the end of the video comes late. */
const writeSlowFfmpeg = async (seconds: number): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "slow-ffmpeg-"));
  clients.defer(() => rm(folder, { recursive: true }));
  const path = join(folder, "ffmpeg");
  const ffmpeg = requiredProgram(locatePrograms(process.env), "ffmpeg");
  await writeFile(path, `#!/bin/sh\n${ffmpeg} "$@"\nsleep ${seconds}\nprintf the-last-part\n`, { mode: 0o755 });
  return path;
};

// REPLAY-5
test("the recording of a session that ends by its time limit is read to its last part before its agent is gone", async () => {
  const limited = await startRecorder({ BROWSERPOOL_FFMPEG: await writeSlowFfmpeg(1.4) });
  const [session, id] = ["limited", newId()];
  expect((await limited.agent.bind(session, 1, { max_seconds: 3 })).status).toBe(200);
  expect(await limited.client.start(limited.place, id, wanted(session, 1))).toMatchObject({ kind: "ok" });
  const { end, bytes } = follow(session, id, limited);
  expect(await end).toBe("lease_over");
  expect(String(bytes().subarray(-"the-last-part".length))).toBe("the-last-part");
  expect(await limited.agent.exited).toBe(0);
});

// REPLAY-3
test("a recording shows the newest of the tabs that were opened before it began", async () => {
  const own = await startRecorder();
  const [session, id] = ["tabs", newId()];
  await own.agent.bind(session, 1);
  const browser = await own.agent.connect(session);
  for (const colour of [...Array(6).fill("red"), "blue"]) {
    const tab = await browser.newPage();
    await tab.goto(`data:text/html,<body style="background:${colour}">`);
  }
  expect(await own.client.start(own.place, id, wanted(session, 1))).toMatchObject({ kind: "ok" });
  const { end, bytes } = follow(session, id, own);
  await eventually("the blue page is in it", async () => (await hasColour(bytes(), blue)) || undefined);
  expect(await hasColour(bytes(), red)).toBe(false);
  await browser.disconnect();
  await own.agent.release(session, 1);
  expect(await end).toBe("lease_over");
});
