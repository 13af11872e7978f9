import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { newId, newSessionId } from "../../src/core/objects/new-id.ts";
import { signSessionToken } from "../../src/core/protocol/session-token.ts";
import type { LeaseParts } from "./lease-parts.ts";

export type HeldSession = { session: string; poolUid: string; jwt: string };

/**
 * A session in Redis alone, with the token of its URLs. `address`: where its browser's agent is, which has the key of
 * `usualPod`.
 */
export const holdSession = async (
  { parts, signingKey }: { parts: LeaseParts; signingKey: ServiceDeps["signingKey"] },
  { project, address }: { project: string; address?: string },
): Promise<HeldSession> => {
  const poolUid = newId();
  const session = newSessionId(poolUid);
  await parts.addBrowser(poolUid, address);
  const request = JSON.stringify({
    timeout_seconds: 60,
    max_session_seconds: 3600,
    project,
    pool: { id: "p", uid: poolUid },
  });
  await parts.store.take(poolUid, { session, channel: "none", request });
  return { session, poolUid, jwt: await signSessionToken(signingKey, { sessionId: session, poolUid }) };
};
