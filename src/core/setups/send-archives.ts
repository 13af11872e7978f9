/** The archives of a setup, from the store of blobs to an agent that misses them. */
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { AgentPlace, Called } from "../leases/agent/agent-call.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { MissingArchives } from "../protocol/browser-setup.ts";
import { SetupFailure, type SetupToDeliver } from "./read-setup.ts";

/** Longest delivery of one archive, ms. */
const archiveMs = 5 * 60_000;

/** The digests of the archives that the agent misses. Throws `SetupFailure` for any other answer. */
export const missingOf = (answer: Called<MissingArchives>): string[] => {
  if (answer.kind === "ok") return answer.missing;
  throw new SetupFailure(
    answer.kind === "refused" ? `its agent refused its setup: ${answer.code}` : "its agent can't be reached",
  );
};

/** Sends what the agent misses, one after another. Throws `SetupFailure`. */
export const sendArchives = async (
  agent: AgentPlace,
  { missing, blobs }: Pick<SetupToDeliver, "blobs"> & { missing: readonly string[] },
  deps: { blobs: BlobStore; setupClient: Pick<SetupClient, "sendArchive"> },
): Promise<void> => {
  for (const sha256 of missing) {
    const blob = await deps.blobs.get(blobs.get(sha256) ?? "", { signal: AbortSignal.timeout(archiveMs) });
    if (!blob) throw new SetupFailure("the store of blobs has lost an archive, or it was replaced a moment ago");
    missingOf(await deps.setupClient.sendArchive(agent, { sha256, bytes: blob.bytes }, blob.body));
  }
};
