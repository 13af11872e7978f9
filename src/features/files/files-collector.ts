/** The sessions whose files this replica collects (collecting/claimed-work.ts), and files that are too old. */
import { type ClaimedWork, startClaimedWork } from "../../core/collecting/claimed-work.ts";
import { sweeping } from "../../core/collecting/sweep-blobs.ts";
import { createSemaphore } from "../../platform/base/semaphore.ts";
import type { CollectClaims } from "../../platform/redis/collect-claims.ts";
import { type CollectFilesDeps, collectFiles } from "./collect-files.ts";
import { filesFolder } from "./stored-files.ts";

/** Sessions of one replica: each has a connection to an agent. */
const mostSessions = 5000;

/** Files of sessions that are on their way at once: of each, an index of 16 MiB at most is in memory. */
const mostTransfers = 4;

/** Files are known of after they are stored: the longest transfer, and an hour for clocks. */
const marginMs = 2 * 3_600_000;

type FilesCollectorDeps = Omit<CollectFilesDeps, "transfers"> & { claims: CollectClaims };

/** Begins to collect, where files are kept, and to delete what is old. */
export const startFilesCollector = (deps: FilesCollectorDeps): ClaimedWork => {
  const { blobs, browsers, claims, config, records, log } = deps;
  const { seconds } = config.keptFiles;
  const parts = { ...deps, transfers: createSemaphore(mostTransfers) };
  const adopted = new Set<string>();
  /** Browsers made by YAML: no request has handed out their sessions. */
  const adopt = async (ensure: ClaimedWork["ensure"]): Promise<void> => {
    const all = seconds > 0 ? browsers.list() : [];
    const present = new Set(all.map(({ metadata }) => metadata.uid));
    for (const uid of adopted) if (!present.has(uid)) adopted.delete(uid);
    for (const { metadata, status } of all) {
      if (status?.phase !== "Active" || adopted.has(metadata.uid)) continue;
      await ensure({ session: metadata.name, poolUid: metadata.uid });
      adopted.add(metadata.uid);
    }
  };
  const work = startClaimedWork({
    claims,
    run: (collected, signal) => collectFiles(collected, parts, signal),
    most: mostSessions,
    alsoLook: adopt,
    what: "the files of a session",
    log,
  });
  return sweeping(work, {
    folder: filesFolder,
    ageMs: seconds * 1000 + marginMs,
    takeSweep: records.takeSweep,
    what: "files of sessions",
    ...{ blobs, log },
  });
};
