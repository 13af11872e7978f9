/**
 * One recording: pictures of the tab in front, at a steady pace, into one video.
 *
 *   waiting for the first picture ──► recording ──stop, a bound, the encoder's end──► ended
 *
 * The first picture gives the video its size; without one in time it has the given one. A picture lasts until the next
 * one; the last one is encoded again once a second, so that a video that breaks off has its length. What may not be
 * shown is grey.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { mostRecordingBytes, type RecordingEnd, type StartRecording } from "./api.ts";
import { type Encoder, type EncoderOptions, startEncoder, type VideoEnd, videoSize } from "./encoder.ts";
import { type FrontDeps, type Seen, watchFront } from "./watch-front.ts";

/**
 * A grey JPEG, which stands for a page that may not be shown. The encoder fits it into the video and fills the rest
 * with the same grey.
 *
 * 16 x 16 pixels, YCbCr with halved colours as Chromium's pictures: one block of each kind with no coefficient but
 * zeros, which is the middle grey. Each Huffman table has one code, of one bit.
 */
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replace(/\s/g, ""), "hex");

const quantization = `ff db 00 43 00 ${"01".repeat(64)}`;
const frame = "ff c0 00 11 08 00 10 00 10 03 01 22 00 02 11 00 03 11 00";
/** One symbol, 0: no difference for the first coefficient, the end of the block for the others. */
const huffman = (table: "00" | "10"): string => `ff c4 00 14 ${table} 01 ${"00".repeat(15)} 00`;
const scan = "ff da 00 0c 03 01 00 02 00 03 00 00 3f 00";
/** Two bits for each of the six blocks. */
const blocks = "00 0f";

/** The JPEG. */
const greyPicture: Buffer = bytesOf(
  `ff d8 ${quantization} ${frame} ${huffman("00")} ${huffman("10")} ${scan} ${blocks} ff d9`,
);

/** How long the first picture is waited for, ms: a page that hangs draws none. */
const firstMs = 2000;
const lookMs = 50;

/** Time without a new picture after which the last one is encoded again, ms. */
const holdMs = 1000;

/** Larger pages are recorded smaller. */
const mostWidth = 1920;
const mostHeight = 1200;

type Size = { width: number; height: number };

export type RecordingDeps = FrontDeps & {
  ffmpeg: string;
  /** The size of a video whose first page has no picture. */
  usualSize: Size;
};

export type Recording = {
  /** Of the video, pixels. */
  size: Size;
  /** Bytes of the video that can be read by now. */
  written(): number;
  /** Takes no further picture from now on. Resolves when the video is complete. */
  stop(why: Extract<RecordingEnd, "stopped" | "lease_over">): Promise<void>;
  /** Resolves with why the recording ended. Never rejects. */
  ended: Promise<RecordingEnd>;
  /** Pictures that the encoder took, and those for which it was too slow. */
  counts(): { frames: number; dropped: number };
};

const fitted = ({ width, height }: Size): Size => {
  const scale = Math.min(1, mostWidth / width, mostHeight / height);
  const side = (length: number): number => Math.max(2, Math.round(length * scale));
  return { width: side(width), height: side(height) };
};

const firstOf = async (look: () => Seen, signal: AbortSignal): Promise<Seen> => {
  const untilMs = performance.now() + firstMs;
  for (;;) {
    const seen = look();
    if (seen.is !== "same" || performance.now() > untilMs || signal.aborted) return seen;
    await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
};

/** Gives the encoder its pictures until it is ended, and the last one at that moment. */
const feed = (
  encoder: Pick<Encoder, "write">,
  { first, look, everyMs }: { first: Seen; look(): Seen; everyMs: number },
): Pick<Recording, "counts"> & { end(): void } => {
  let [frames, dropped] = [0, 0];
  let last = greyPicture;
  let encodedMs = Number.NEGATIVE_INFINITY;
  let isWaiting = true;
  const encode = (): void => {
    const isTaken = encoder.write(last);
    if (isTaken) frames += 1;
    else dropped += 1;
    isWaiting = !isTaken;
    if (isTaken) encodedMs = performance.now();
  };
  const take = (seen: Seen): void => {
    const next = seen.is === "picture" ? seen.jpeg : seen.is === "hidden" ? greyPicture : last;
    const isNew = next !== last;
    last = next;
    if (isNew || isWaiting || performance.now() - encodedMs >= holdMs) encode();
  };
  take(first);
  const timer = setInterval(() => take(look()), everyMs);
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    encoder.write(last);
  };
  return { counts: () => ({ frames, dropped }), end };
};

const endOf = (video: VideoEnd, asked: RecordingEnd | undefined): RecordingEnd =>
  video === "stopped" ? (asked ?? "stopped") : video;

/**
 * Begins. `file`: as of `EncoderOptions`. `over`: aborted when the lease is over; nothing of the browser is seen from
 * then on.
 */
export const startRecording = async (
  { framerate, seconds, max_bytes }: Pick<StartRecording, "framerate" | "seconds" | "max_bytes">,
  { file, over }: Pick<EncoderOptions, "file"> & { over: AbortSignal },
  { ffmpeg, usualSize, ...front }: RecordingDeps,
): Promise<Recording> => {
  const stopped = new AbortController();
  const noMore = AbortSignal.any([stopped.signal, over]);
  const { look } = watchFront(front, noMore);
  const first = await firstOf(look, noMore);
  const size = fitted(first.is === "picture" ? first.page : usualSize);
  const encoder = startEncoder({ ffmpeg, size, file, maxBytes: Math.min(max_bytes, mostRecordingBytes) });
  const pictures = feed(encoder, { first, look, everyMs: 1000 / framerate });
  let asked: RecordingEnd | undefined;
  const end = async (why: RecordingEnd): Promise<void> => {
    asked ??= why;
    pictures.end();
    stopped.abort();
    await encoder.stop();
  };
  const tooLong = setTimeout(() => void end("too_long"), seconds * 1000);
  const onOver = (): void => void end("lease_over");
  over.addEventListener("abort", onOver, { once: true });
  if (over.aborted) onOver();
  const ended = encoder.ended.then((video) => {
    clearTimeout(tooLong);
    over.removeEventListener("abort", onOver);
    pictures.end();
    stopped.abort();
    return endOf(video, asked);
  });
  return { size: videoSize(size), written: encoder.written, stop: end, ended, counts: pictures.counts };
};
