/** What ffmpeg and a web browser find in videos. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import type { Page } from "puppeteer-core";

const run = promisify(execFile);

export type Colour = readonly [red: number, green: number, blue: number];

/** The mean colour of the middle of each picture of a video. */
export const coloursOf = async (video: Buffer): Promise<Colour[]> => {
  const args = ["-v", "error", "-i", "pipe:0", "-vf", "crop=64:64,scale=1:1:flags=area", "-fps_mode", "passthrough"];
  const child = spawn("ffmpeg", [...args, "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  // It may have read enough.
  child.stdin.on("error", () => undefined);
  child.stdin.end(video);
  await once(child, "close");
  const bytes = Buffer.concat(chunks);
  return Array.from({ length: bytes.length / 3 }, (_, at): Colour => {
    const [red = 0, green = 0, blue = 0] = bytes.subarray(at * 3);
    return [red, green, blue];
  });
};

/** A video as an agent writes it, of 640 × 480 and 10 pictures a second; one of 6 s has some megabytes. */
export const agentVideo = async (seconds: number): Promise<Buffer> => {
  const source = `testsrc2=size=640x480:rate=10:duration=${seconds},noise=alls=60:allf=t`;
  const codec = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "4M", "-g", "20"];
  const form = ["-f", "webm", "-live", "1", "-cluster_time_limit", "1000", "pipe:1"];
  const args = ["-v", "error", "-f", "lavfi", "-i", source, ...codec, ...form];
  const { stdout } = await run("ffmpeg", args, { encoding: "buffer", maxBuffer: 50e6 });
  return stdout;
};

/** Whether a colour is nearly this one: encoders change colours a little. */
export const isNear = (colour: Colour, wanted: Colour): boolean =>
  colour.every((part, at) => Math.abs(part - (wanted[at] ?? 0)) < 40);

/** The pictures that ffprobe counts in a file. */
export const countFrames = async (file: string): Promise<number> => {
  const entries = ["-show_entries", "stream=nb_read_frames", "-of", "csv=p=0"];
  const { stdout } = await run("ffprobe", ["-v", "error", "-count_frames", ...entries, file]);
  return Number(stdout.trim());
};

type Played = {
  duration: number;
  width: number;
  height: number;
  seeked: number;
  frames: number;
  isSeekable: boolean;
};

/** Plays a video from a URL in a page, and goes to a place of it, s. */
export const playIn = (page: Page, url: string, place: number): Promise<Played> =>
  page.evaluate(
    `(async () => {
      const video = document.createElement("video");
      const on = (name) => new Promise((resolve, reject) => {
        video.addEventListener(name, resolve, { once: true });
        video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true });
      });
      video.muted = true;
      document.body.append(video);
      const loaded = on("loadeddata");
      video.src = ${JSON.stringify(url)};
      await loaded;
      const { duration, videoWidth: width, videoHeight: height } = video;
      const seeked = on("seeked");
      video.currentTime = ${place};
      await seeked;
      const at = video.currentTime;
      const ended = on("ended");
      await video.play();
      await ended;
      const frames = video.getVideoPlaybackQuality().totalVideoFrames;
      const isSeekable = video.seekable.length === 1 && video.seekable.end(0) === duration;
      video.remove();
      return { duration, width, height, seeked: at, frames, isSeekable };
    })()`,
  ) as Promise<Played>;
