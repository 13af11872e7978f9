import type { KeyObject } from "node:crypto";
import { derivedKey } from "./derived-key.ts";
import { algorithmOf, signJwt, verifyJwt } from "./jwt.ts";

/** The content of a session's token: the lease that it opens. `isOver`: its time is over, so the session has ended. */
export type SessionClaims = { sessionId: string; poolUid: string; isOver?: true };

/** The content of a live view's token. `readOnly`: it shows the browser and takes no input. */
type LiveViewClaims = SessionClaims & { readOnly: boolean };

/** The content of a token that opens one recording. */
type RecordingClaims = SessionClaims & { recordingId: string };

const audience = "gateway";
/** Another audience, so that who may watch a browser can't open its CDP. */
const liveViewAudience = "live-view";
/** And another one, so that who may see a recording can't watch the browser. */
const recordingAudience = "replay";

/** How far the clocks of a replica and of Redis, by which a session begins, may differ, s. */
const toleranceSeconds = 60;

const untilOf = (expiresAt: number | undefined): object => (expiresAt === undefined ? {} : { exp: expiresAt });

/**
 * The `jwt` of a session's `cdp_ws_url`. It is valid as long as its lease, which the gateway looks up on every use.
 * `expiresAt`: when the lease ends at the latest, s since 1970; then its text is worth nothing, wherever it was written
 * down. Ed25519 is deterministic, so the same session always has the same URL.
 */
export const signSessionToken = (
  privateKey: KeyObject,
  { sessionId, poolUid }: SessionClaims,
  expiresAt?: number,
): string => signJwt(privateKey, { pool: poolUid, aud: audience, sub: sessionId, ...untilOf(expiresAt) });

/**
 * Live views are opened at this service alone, and each acquire answers with two of their tokens: they are proved by
 * HMAC.
 */
const liveViewKey = (privateKey: KeyObject): KeyObject => derivedKey(privateKey, "live views");

/** The `jwt` of a session's live view; valid as long as its lease, as the session's token. */
export const signLiveViewToken = (
  privateKey: KeyObject,
  { sessionId, poolUid, readOnly }: LiveViewClaims,
  expiresAt?: number,
): string =>
  signJwt(liveViewKey(privateKey), {
    ...{ pool: poolUid, aud: liveViewAudience, sub: sessionId, read_only: readOnly },
    ...untilOf(expiresAt),
  });

/** The `jwt` of a recording's URL; valid as long as the recording is kept. */
export const signRecordingToken = (
  privateKey: KeyObject,
  { sessionId, poolUid, recordingId }: RecordingClaims,
): string => signJwt(privateKey, { pool: poolUid, aud: recordingAudience, sub: sessionId, replay: recordingId });

const verifiedPayload = async (key: KeyObject, token: string, wanted: string) => {
  // Its time is judged below: a token whose time is over still says which session has ended.
  const options = { algorithms: [algorithmOf(key)], audience: wanted, currentDate: new Date(0) };
  const payload = await verifyJwt(key, token, options);
  if (!payload?.sub || typeof payload.pool !== "string") return undefined;
  const { sub: sessionId, pool: poolUid, exp = Number.POSITIVE_INFINITY } = payload;
  const isOver = Date.now() / 1000 > exp + toleranceSeconds;
  return { claims: { sessionId, poolUid, ...(isOver && { isOver }) }, payload };
};

/**
 * The claims of a token signed by `signSessionToken`, or undefined when it is forged, malformed or for another
 * audience.
 */
export const verifySessionToken = async (publicKey: KeyObject, token: string): Promise<SessionClaims | undefined> => {
  const verified = await verifiedPayload(publicKey, token, audience);
  return verified?.claims;
};

/** The claims of a token signed by `signLiveViewToken`; undefined as `verifySessionToken`. */
export const verifyLiveViewToken = async (
  privateKey: KeyObject,
  token: string,
): Promise<LiveViewClaims | undefined> => {
  const verified = await verifiedPayload(liveViewKey(privateKey), token, liveViewAudience);
  if (!verified) return undefined;
  // Whatever is not plainly allowed to type, only watches.
  return { ...verified.claims, readOnly: verified.payload.read_only !== false };
};

/** The claims of a token signed by `signRecordingToken`; undefined as `verifySessionToken`. */
export const verifyRecordingToken = async (
  publicKey: KeyObject,
  token: string,
): Promise<RecordingClaims | undefined> => {
  const verified = await verifiedPayload(publicKey, token, recordingAudience);
  const recordingId = verified?.payload.replay;
  if (!verified || typeof recordingId !== "string") return undefined;
  return { ...verified.claims, recordingId };
};
