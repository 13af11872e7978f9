/** Videos of pictures, by the real ffmpeg. */
import { execFile } from "node:child_process";
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Encoder, startEncoder } from "../../../../src/features/recordings/agent/encoder.ts";
import { eventually } from "../../../support/eventually.ts";

const run = promisify(execFile);
const ffmpeg = "/usr/bin/ffmpeg";
const size = { width: 321, height: 240 };

let folder: string;
/** Pictures of a moving pattern, one of another size among them. */
const pictures: Buffer[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "encoder-test-"));
  const draw = async (of: string, count: number): Promise<void> => {
    const out = ["-frames:v", String(count), "-q:v", "3", join(folder, `${of}-%03d.jpg`)];
    await run(ffmpeg, ["-loglevel", "error", "-f", "lavfi", "-i", `testsrc=size=${of}`, ...out]);
  };
  await draw("321x240", 30);
  await draw("100x300", 1);
  for (const name of (await readdir(folder)).sort().reverse()) pictures.push(await readFile(join(folder, name)));
});
const handles: FileHandle[] = [];
afterAll(async () => {
  await Promise.all(handles.map((handle) => handle.close()));
  await rm(folder, { recursive: true, force: true });
});

const start = async (path: string, maxBytes = 10e6, program = ffmpeg): Promise<Encoder> => {
  const file = await open(path, "wx+");
  handles.push(file);
  return startEncoder({ ffmpeg: program, size, file: { append: (bytes) => file.appendFile(bytes) }, maxBytes });
};

const feed = async (encoder: Encoder, rounds = 1): Promise<number> => {
  let taken = 0;
  for (let round = 0; round < rounds; round++)
    for (const picture of pictures) {
      if (encoder.write(picture)) taken += 1;
      await sleep(20);
    }
  return taken;
};

/** What a player finds in a file. */
const probe = async (file: string) => {
  const args = [
    "-v",
    "error",
    "-count_frames",
    "-show_entries",
    "stream=codec_name,width,height,nb_read_frames",
    "-of",
    "json",
  ];
  const { stdout } = await run("/usr/bin/ffprobe", [...args, file]);
  const [video] = (
    JSON.parse(stdout) as { streams: { codec_name: string; width: number; height: number; nb_read_frames: string }[] }
  ).streams;
  return video && { ...video, nb_read_frames: Number(video.nb_read_frames) };
};

const isGone = (pid = 0): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

test("pictures become a video of one size, made at the lowest priority, and nothing of ffmpeg is left", async () => {
  const file = join(folder, "whole.webm");
  const encoder = await start(file);
  expect(getPriority(encoder.pid)).toBe(19);
  const taken = await feed(encoder);
  expect(await encoder.stop()).toBe("stopped");
  expect(isGone(encoder.pid)).toBe(true);
  const video = await probe(file);
  expect(video).toMatchObject({ codec_name: "vp8", width: 322, height: 240 });
  expect(video?.nb_read_frames).toBeGreaterThan(taken / 2);
  expect(encoder.write(pictures[0] ?? Buffer.alloc(0))).toBe(false);
});

test("what was encoded before ffmpeg was killed can be played", async () => {
  const file = join(folder, "killed.webm");
  const encoder = await start(file);
  await eventually("some of it is in the file", async () => {
    await feed(encoder);
    return (await stat(file)).size > 20_000;
  });
  process.kill(encoder.pid ?? 0, "SIGKILL");
  expect(await encoder.ended).toBe("killed");
  expect((await probe(file))?.nb_read_frames).toBeGreaterThan(1);
});

test("a video that grows too large ends, within its bound, and can be played", async () => {
  const file = join(folder, "large.webm");
  const encoder = await start(file, 60_000);
  await Promise.race([feed(encoder, 20), encoder.ended]);
  expect(await encoder.stop()).toBe("too_large");
  expect((await stat(file)).size).toBeLessThanOrEqual(60_000);
  expect((await probe(file))?.nb_read_frames).toBeGreaterThan(1);
});

test("a program that is missing is a video that was killed", async () => {
  const encoder = await start(join(folder, "none.webm"), 1e6, "/nowhere/ffmpeg");
  expect(await encoder.ended).toBe("killed");
  expect(await encoder.stop()).toBe("killed");
});
