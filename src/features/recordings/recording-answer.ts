import type { KeyObject } from "node:crypto";
import { signReplayToken } from "../../core/protocol/session-token.ts";
import type { ReplayRecord } from "./recording-store.ts";
import type { Replay } from "./recording-wire.ts";

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** A recording as callers get it. `baseUrl`: of this service. */
export const replayAnswer = (
  { id, session, poolUid, startedMs, finished }: ReplayRecord,
  baseUrl: string,
  { signingKey }: { signingKey: KeyObject },
): Replay => {
  const jwt = signReplayToken(signingKey, { sessionId: session, poolUid, replayId: id });
  return {
    replay_id: id,
    started_at: timeOf(startedMs),
    finished_at: finished ? timeOf(finished.atMs) : null,
    replay_view_url: `${baseUrl}/gateway/${session}/replays/${id}?jwt=${jwt}`,
    ...(finished && { end_reason: finished.why }),
  };
};
