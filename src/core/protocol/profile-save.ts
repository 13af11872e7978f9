/**
 * How an agent hands over the profile of its browser at the browser's end, when its setup has `save_to`. An agent calls
 * nobody, so the operator comes for it:
 *
 *   GET    /profile          → 200 ProfileSaveState
 *   GET    /profile/archive  → 200 the archive (tar.zst), sealed | 404 when there is none
 *   DELETE /profile          → 200 ProfileSaveState: the agent need not keep it any longer, and ends | 409 before the browser's end
 *
 *   running ──the browser ends in order──► packing ──► packed │ unused │ failed ──DELETE, or the deadline──► the agent ends
 *
 * The proof of the first answer covers the digest, and by that the archive. All calls can be repeated.
 */
import { z } from "zod";
import { ArchiveRef } from "./browser-setup.ts";

/** How long an agent keeps its profile for the operator, s. It ends then. */
export const keepProfileSeconds = 900;

/** Largest archive, bytes: the limit of features/profiles/archive/limits.ts. */
export const maxProfileBytes = 256 * 1024 ** 2;

/** Time for an agent to close its browser and to end, beside that, s. */
export const closeProfileSeconds = 60;

/** `ended_ms_ago`: how long ago the browser ended, by the agent's monotonic clock. */
const ended = { save_to: z.string().min(1).max(64), ended_ms_ago: z.int().min(0) };

/** What an agent says of the profile that it keeps. */
export const ProfileSaveState = z.discriminatedUnion("is", [
  z.object({ is: z.literal("running") }),
  z.object({ is: z.literal("packing"), ...ended }),
  z.object({
    is: z.literal("packed"),
    ...ended,
    sha256: ArchiveRef.shape.sha256,
    bytes: z.int().min(0).max(maxProfileBytes),
  }),
  /** No client has used the browser, so the profile is as it was. */
  z.object({ is: z.literal("unused"), ...ended }),
  z.object({ is: z.literal("failed"), ...ended, why: z.string().max(300) }),
]);
export type ProfileSaveState = z.infer<typeof ProfileSaveState>;
