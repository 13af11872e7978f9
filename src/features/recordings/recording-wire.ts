/** Recordings of sessions on the wire, as the public SDK has them (`browsers.replays`). */
import { z } from "zod";

/** Pictures in a second: more need a GPU. An agent takes as many. */
export const mostFramerate = 20;

/** The longest recording, s. */
export const mostRecordingSeconds = 4 * 3600;

/** The body of a start. */
export const StartReplayBody = z.object({
  framerate: z
    .number()
    .min(1)
    .max(mostFramerate, `at most ${mostFramerate}: more pictures in a second need a GPU for the encoder`)
    .default(10)
    .describe("Pictures in a second at most; a page that does not change gives fewer."),
  max_duration_in_seconds: z
    .int()
    .min(1)
    .max(mostRecordingSeconds)
    .default(600)
    .describe("When the recording ends by itself, seconds after its begin."),
  record_audio: z
    .literal(false, "must be false or left out: recordings have no sound here")
    .default(false)
    .describe("Recordings have no sound: only false is taken."),
});
export type StartReplayBody = z.infer<typeof StartReplayBody>;

/** A recording. */
export const Replay = z.object({
  replay_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable().describe("When its video was stored; null until then."),
  replay_view_url: z.string().describe("Opens the video in a web browser, without an API key, once it is stored."),
  end_reason: z
    .string()
    .optional()
    .describe(
      "Why it ended: stopped; too_long or too_large at its bounds; lease_over with its session; killed with its encoder; lost when its browser was gone before all was stored; damaged.",
    ),
});
export type Replay = z.infer<typeof Replay>;
