/**
 * Makes a video of pictures as they come, by ffmpeg at the lowest priority:
 *
 *   write ──► ffmpeg's stdin ──► VP8 in WebM ──► ffmpeg's stdout ──► file
 *     │
 *     └─ while ffmpeg has not taken the last picture: dropped
 *
 * A picture is shown from its arrival to that of the next one. The WebM is a live one: its parts have no length that is
 * known only at the end, and no index. So what is in the file can be played, whenever ffmpeg or the agent is killed.
 */

import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { UnnamedFile } from "../../../core/agent/unnamed-file.ts";
import { element, ids, openElement, text, whole } from "../webm/ebml.ts";
import type { VideoSize } from "../webm/read-cluster.ts";
import { videoTracks } from "../webm/video-track.ts";

// Pictures on their way to the encoder: Matroska (RFC 9559) of JPEGs, each in a cluster of its own with the time at
// which it came. So the encoder needs no clock, which may be set while it runs, and begins with a picture as soon as it
// is whole.

/** What stands before the first picture. Pictures of another size than this may follow. */
const streamHead = (size: VideoSize): Buffer =>
  Buffer.concat([
    element(ids.ebml, text(ids.docType, "matroska"), whole(ids.docTypeVersion, 4), whole(ids.docTypeReadVersion, 2)),
    openElement(ids.segment),
    element(ids.info, whole(ids.timestampScale, 1e6)),
    videoTracks("V_MJPEG", size),
  ]);

/** Track 1, no difference to the cluster's time, a key. */
const blockHead = Buffer.from([0x81, 0, 0, 0x80]);

/** A JPEG that is shown from this time on, whole ms since the first one. */
const streamPicture = (jpeg: Buffer, ms: number): Buffer =>
  element(ids.cluster, whole(ids.timestamp, ms), element(ids.simpleBlock, blockHead, jpeg));

/** How long ffmpeg may take to write what it has when there are no more pictures, ms. */
const lastWordsMs = 10_000;

export type EncoderOptions = {
  /** The program. */
  ffmpeg: string;
  /** The video's size in pixels. Pictures of another size are fitted in. */
  size: { width: number; height: number };
  /** Where the video is written; the caller closes it after the end. */
  file: Pick<UnnamedFile, "append">;
  /** The file's size at most; then the video ends. */
  maxBytes: number;
};

/** Why a video ended. `killed`: ffmpeg ended by itself, or something ended it. */
export type VideoEnd = "stopped" | "too_large" | "killed";

export type Encoder = {
  /** Takes a JPEG; false when it was dropped. Never waits. */
  write(jpeg: Buffer): boolean;
  /** Bytes of the video that are in the file by now. */
  written(): number;
  /** There are no more pictures. Resolves when the file is complete and ffmpeg is gone. */
  stop(): Promise<VideoEnd>;
  /** Resolves as `stop` does, also when the video ends by itself. Never rejects. */
  ended: Promise<VideoEnd>;
  pid: number | undefined;
};

/** Both sides of a video have even lengths. */
const even = (length: number): number => length + (length % 2);

/** The size that a video of pictures of this size has, pixels. */
export const videoSize = ({ width, height }: EncoderOptions["size"]): EncoderOptions["size"] => ({
  width: even(width),
  height: even(height),
});

const argsOf = (size: EncoderOptions["size"]): string[] => {
  const { width: w, height: h } = videoSize(size);
  const fitted = `scale=${w}:${h}:force_original_aspect_ratio=decrease,pad=${w}:${h}:-1:-1:color=gray,setsar=1`;
  return [
    // Of a recording that ends as it begins ffmpeg can decode no picture: that is no failure.
    ...["-loglevel", "error", "-nostdin", "-filter_threads", "1", "-threads", "1", "-max_error_rate", "1"],
    // Without these it would look at the pictures of some seconds before it begins.
    ...["-probesize", "32", "-analyzeduration", "0", "-fflags", "nobuffer"],
    ...["-f", "matroska", "-i", "pipe:0"],
    ...["-vf", fitted, "-fps_mode", "vfr", "-enc_time_base", "1:1000", "-an"],
    ...["-c:v", "libvpx", "-threads", "1", "-deadline", "realtime", "-cpu-used", "8"],
    ...["-b:v", "1M", "-g", "100", "-pix_fmt", "yuv420p"],
    // A player can seek to these pictures only.
    ...["-force_key_frames", "expr:gte(t,n_forced*10)"],
    ...["-f", "webm", "-live", "1", "-cluster_time_limit", "1000", "-flush_packets", "1", "pipe:1"],
  ];
};

/** Starts ffmpeg. A program that can't be started is a video that was killed. */
export const startEncoder = ({ ffmpeg, size, file, maxBytes }: EncoderOptions): Encoder => {
  // No variable of the agent's: they have its key.
  const child = spawn(ffmpeg, argsOf(size), { stdio: ["pipe", "pipe", "ignore"], env: {} });
  child.on("error", () => child.stdin.destroy());
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  child.stdin.on("error", () => undefined);
  let bytes = 0;
  let isFull = false;
  let isStopping = false;
  let beganMs: number | undefined;
  const keep = async (): Promise<void> => {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      isFull = bytes + chunk.length > maxBytes;
      if (isFull) return;
      await file.append(chunk);
      bytes += chunk.length;
    }
  };
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const finish = async (): Promise<VideoEnd> => {
    // A full disk ends the video; what is in the file stays.
    const isKept = await keep().then(
      () => !isFull,
      () => false,
    );
    if (!isKept) child.kill("SIGKILL");
    await closed;
    if (isFull) return "too_large";
    return isKept && isStopping && child.exitCode === 0 ? "stopped" : "killed";
  };
  const ended = finish();
  return {
    ended,
    pid: child.pid,
    written: () => bytes,
    write(jpeg) {
      if (isStopping || child.stdin.destroyed || child.stdin.writableLength > 0) return false;
      const nowMs = performance.now();
      if (beganMs === undefined) child.stdin.write(streamHead(size));
      beganMs ??= nowMs;
      child.stdin.write(streamPicture(jpeg, Math.round(nowMs - beganMs)));
      return true;
    },
    async stop() {
      isStopping = true;
      child.stdin.end();
      const late = setTimeout(() => child.kill("SIGKILL"), lastWordsMs);
      try {
        return await ended;
      } finally {
        clearTimeout(late);
      }
    },
  };
};
