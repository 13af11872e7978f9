/** `browsers.replays` of the SDK, with videos that a real browser plays. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Kernel from "@onkernel/sdk";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "../support/axe-findings.ts";
import { docExamples } from "../support/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { upgrade } from "../support/raw-http.ts";
import { countFrames, playIn } from "../support/recording-video.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../support/view-page.ts";

const moving = `data:text/html,<title>moving</title><body><h1 id=now>0</h1><script>
  const step = (at) => { now.textContent = at; document.body.style.background = "hsl(" + at / 10 + " 80% 50%)"; requestAnimationFrame(step); };
  requestAnimationFrame(step);
</script>`;

const parts = new AsyncDisposableStack();
let stack: LocalProject;
let kernel: Kernel;
let pool: string;
let folder: string;
let player: ViewBrowser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "replays-test-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  stack = parts.use(await startProject());
  kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
  player = parts.use(await startViewBrowser());
  pool = (await filledPool(stack.kernel, { size: 3, viewport: { width: 640, height: 480 } })).id;
});
afterAll(() => parts.disposeAsync());

type Session = Awaited<ReturnType<LocalProject["kernel"]["browserPools"]["acquire"]>>;

const acquire = async (): Promise<Session> => {
  const session = await kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const page = (await holder.pages())[0] ?? (await holder.newPage());
  await page.goto(moving);
  await holder.disconnect();
  return session;
};
const release = (session_id: string): Promise<void> => kernel.browserPools.release(pool, { session_id });

const children = async (name: string): Promise<number[]> => {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid=,comm="]);
  const all = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const below = (pid: string): string[] =>
    all.filter(([, parent]) => parent === pid).flatMap(([child = ""]) => [child, ...below(child)]);
  const own = new Set(below(String(stack.pid)));
  return all.filter(([pid = "", , command]) => own.has(pid) && command === name).map(([pid]) => Number(pid));
};
/** Resolves when the page was recorded for a while. */
const record = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const listOf = async (session: string) => {
  const answer = await stack.call("GET", `/browsers/${session}/replays?include_deleted=true`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as {
    replay_id: string;
    finished_at: string | null;
    replay_view_url: string;
    end_reason?: string;
  }[];
};
const untilStored = (session: string) =>
  eventually(`a recording of ${session} is stored`, async () =>
    (await listOf(session)).find((replay) => replay.finished_at),
  );

const framesOf = async (url: string): Promise<number> => {
  const file = join(folder, "video.webm");
  await writeFile(file, Buffer.from(await (await fetch(url)).arrayBuffer()));
  return countFrames(file);
};

// REPLAY-1, REPLAY-2, REPLAY-9
test("the SDK records a session, and a web browser plays the video, goes to any place of it, and sees how long it is", async () => {
  const { session_id } = await acquire();
  const begun = await kernel.browsers.replays.start(session_id, { framerate: 15, max_duration_in_seconds: 60 });
  expect(begun).toMatchObject({ replay_id: expect.stringMatching(/^[a-z0-9]{24}$/), finished_at: null });
  await expect(kernel.browsers.replays.start(session_id)).rejects.toMatchObject({ status: 409 });
  await expect(kernel.browsers.replays.download(begun.replay_id, { id: session_id })).rejects.toMatchObject({
    status: 409,
  });
  await record(4000);
  await kernel.browsers.replays.stop(begun.replay_id, { id: session_id });
  await kernel.browsers.replays.stop(begun.replay_id, { id: session_id });
  const [listed, ...others] = await kernel.browsers.replays.list(session_id);
  expect(others).toEqual([]);
  expect(listed).toMatchObject({ ...begun, finished_at: expect.any(String), end_reason: "stopped" });

  const response = await kernel.browsers.replays.download(begun.replay_id, { id: session_id });
  expect(response.headers.get("content-type")).toBe("video/webm");
  const video = Buffer.from(await response.arrayBuffer());
  const file = join(folder, "downloaded.webm");
  await writeFile(file, video);
  expect(await countFrames(file)).toBeGreaterThan(10);

  const page = await player.browser.newPage();
  const played = await playIn(page, listed?.replay_view_url ?? "", 2);
  expect(played).toMatchObject({ width: 640, height: 480, seeked: 2, isSeekable: true });
  expect(played.duration).toBeGreaterThan(3);
  expect(played.duration).toBeLessThan(15);
  expect(played.frames).toBeGreaterThan(5);
  // A person gets a page with a player, which every assistive program can use.
  await page.goto(listed?.replay_view_url ?? "");
  expect(await page.$eval("h1", ({ textContent }) => textContent)).toBe("Recording");
  expect(await axeFindings(page)).toEqual([]);
  await page.waitForFunction(
    "document.querySelector('video')?.readyState >= 2 && document.querySelector('video').duration > 3",
  );
  const bad = await page.goto((listed?.replay_view_url ?? "").slice(0, -4));
  expect(bad?.status()).toBe(401);
  expect(await page.$eval("h1", ({ textContent }) => textContent)).toBe("This link is not good");
  await page.close();

  const part = await fetch(listed?.replay_view_url ?? "", { headers: { range: "bytes=100-300" } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 100-300/${video.length}`]);
  expect(Buffer.from(await part.arrayBuffer()).equals(video.subarray(100, 301))).toBe(true);
  await release(session_id);
});

// REPLAY-6, REPLAY-7
test("a recording is kept when its session ends, and when its encoder is killed", async () => {
  const { session_id } = await acquire();
  await kernel.browsers.replays.start(session_id);
  await record(2500);
  await release(session_id);
  const ended = await untilStored(session_id);
  expect(ended.end_reason).toBe("lease_over");
  expect(await framesOf(ended.replay_view_url)).toBeGreaterThan(3);
  // Only those who ask for ended sessions find it.
  expect((await stack.call("GET", `/browsers/${session_id}/replays`)).status).toBe(404);

  const killed = await acquire();
  await kernel.browsers.replays.start(killed.session_id);
  await record(2500);
  const encoders = await children("ffmpeg");
  expect(encoders).toHaveLength(1);
  process.kill(encoders[0] ?? 0, "SIGKILL");
  const stored = await untilStored(killed.session_id);
  expect(stored.end_reason).toBe("killed");
  expect(await framesOf(stored.replay_view_url)).toBeGreaterThan(3);

  // Deleting the browser ends its agent, too.
  const again = await kernel.browsers.replays.start(killed.session_id, { max_duration_in_seconds: 30 });
  await record(2500);
  await kernel.browsers.deleteByID(killed.session_id);
  const last = await eventually("the last one is stored", async () =>
    (await listOf(killed.session_id)).find(
      ({ replay_id, finished_at }) => replay_id === again.replay_id && finished_at,
    ),
  );
  expect(await framesOf(last.replay_view_url)).toBeGreaterThan(3);
  expect(await children("ffmpeg")).toEqual([]);
});

// REPLAY-6
test("what was recorded is kept when the browser's agent is killed, and nothing of its encoder is left", async () => {
  const { session_id } = await acquire();
  await kernel.browsers.replays.start(session_id);
  await record(4000);
  const [encoder = 0] = await children("ffmpeg");
  const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=", "-p", String(encoder)]);
  process.kill(Number(stdout), "SIGKILL");
  const stored = await untilStored(session_id);
  expect(["lost", "lease_over"]).toContain(stored.end_reason);
  expect(await framesOf(stored.replay_view_url)).toBeGreaterThan(3);
  await eventually("the encoder is gone", () => !existsSync(`/proc/${encoder}`));
});

// REPLAY-1, REPLAY-8, REPLAY-9, REPLAY-10
test("what can't be done is refused by name, and a recording is nobody else's", async () => {
  const session = await acquire();
  const { session_id } = session;
  const refusal = async (body: object): Promise<string> => {
    const answer = await stack.call("POST", `/browsers/${session_id}/replays`, body);
    return `${answer.status} ${await answer.text()}`;
  };
  expect(await refusal({ framerate: 25 })).toMatch(/^400 .*"path":"framerate".*GPU|^400 .*GPU.*"path":"framerate"/);
  expect(await refusal({ record_audio: true })).toMatch(/^400 .*record_audio.*no sound/);
  expect(await refusal({ max_duration_in_seconds: 100_000 })).toMatch(/^400 .*max_duration_in_seconds/);
  const begun = await kernel.browsers.replays.start(session_id, { record_audio: false, max_duration_in_seconds: 1 });
  const stored = await untilStored(session_id);
  expect(stored.end_reason).toBe("too_long");
  const long = await kernel.browsers.replays.start(session_id, { max_duration_in_seconds: 3600 });
  const second = await acquire();
  await expect(
    kernel.browsers.replays.start(second.session_id, { max_duration_in_seconds: 3600 }),
  ).rejects.toMatchObject({ status: 429, message: expect.stringContaining("MiB") });
  await kernel.browsers.replays.stop(long.replay_id, { id: session_id });

  const place = `/browsers/${session_id}/replays`;
  const project = await stack.kernel.projects.create({ name: "replays-other" });
  const made = await stack.call("POST", "/org/api_keys", { name: "replays-reader", permissions: ["pools:read"] });
  const { key } = (await made.json()) as { key: string };
  for (const path of [place, `${place}/${begun.replay_id}`]) {
    expect((await stack.call("GET", path, undefined, { "x-kernel-project-id": project.id })).status).toBe(404);
    expect((await stack.call("GET", path, undefined, { authorization: `Bearer ${key}` })).status).toBe(403);
  }
  expect((await stack.call("GET", `/browsers/${second.session_id}/replays/${begun.replay_id}`)).status).toBe(404);

  const url = new URL(stored.replay_view_url);
  const token = url.searchParams.get("jwt") ?? "";
  const withToken = (of: string, jwt: string): string => {
    const other = new URL(of);
    other.searchParams.set("jwt", jwt);
    return other.href;
  };
  const statusOf = async (asked: string): Promise<number> => (await fetch(asked, { method: "HEAD" })).status;
  expect(await statusOf(url.href)).toBe(200);
  expect((await upgrade(withToken(session.cdp_ws_url, token))).status).toBe(401);
  for (const jwt of ["", "x", new URL(session.cdp_ws_url).searchParams.get("jwt") ?? ""])
    expect(await statusOf(withToken(url.href, jwt))).toBe(401);
  url.pathname = url.pathname.replace(begun.replay_id, long.replay_id);
  expect(await statusOf(url.href)).toBe(401);
  for (const id of [session_id, second.session_id]) await release(id);
});

test("the examples of docs/replays.md work", async () => {
  const [script = ""] = docExamples("replays.md", "sh");
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: folder,
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  expect(stdout).toContain('"end_reason":"stopped"');
  expect((await readFile(join(folder, "replay.webm"))).subarray(0, 4).toString("hex")).toBe("1a45dfa3");
});

test("nothing of a recording is left beside the store", async () => {
  const named = (await readdir(stack.dataDir, { recursive: true })).filter((name) => /replay-[^/]*$/.test(name));
  expect(named).toEqual([]);
});
