/** The calls by which the API changes a browser for its holder (core/protocol/browser-change.ts). */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BrowserChange, changesBrowser } from "../protocol/browser-change.ts";
import { maxSetupBytes } from "../protocol/browser-setup.ts";
import { openText } from "../protocol/sealed-bytes.ts";
import { parseBody, type Routes } from "./agent-http.ts";
import { type AgentReply, refusals } from "./agent-reply.ts";
import { type ArchiveFolder, createArchiveFolder, isAt, missingIn } from "./archive-folder.ts";
import type { LeaseChange } from "./holder-changes.ts";
import type { LeaseName } from "./lease-fence.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

type ChangeRouteDeps = {
  leases: Pick<LeaseKeeper, "change" | "isHeldBy" | "prepare">;
  agentKey: KeyObject;
  /** Where the archives are kept; a reset of the browser removes it. */
  folder: string;
};

/** The archives that the present lease has, and the change that it prepares. */
type Prepared = { lease: LeaseName; archives: Promise<ArchiveFolder>; change: BrowserChange };

const archivesOf = ({ profile }: BrowserChange) => (profile?.archive ? [profile.archive] : []);

/** Nothing of a lease is kept for the next one. */
export const changeRoutes = ({ leases, agentKey, folder }: ChangeRouteDeps): Routes => {
  let prepared: Prepared | undefined;

  const preparedFor = (change: BrowserChange): Prepared => {
    const { session_id, epoch, seq } = change;
    const isSame = prepared?.lease.session_id === session_id && prepared.lease.seq === seq;
    const archives = prepared && isSame ? prepared.archives : createArchiveFolder(folder, agentKey);
    // Whoever uses it sees the failure; the next change tries again.
    archives.catch(() => {
      if (prepared?.archives === archives) prepared = undefined;
    });
    prepared = { lease: { session_id, epoch, seq }, archives, change };
    return prepared;
  };

  const missing = async ({ archives, change }: Prepared): Promise<AgentReply> => ({
    status: 200,
    body: { missing: missingIn(archivesOf(change), await archives) },
  });

  /** Of what needs no preparation. */
  const changeLease = async (change: LeaseChange): Promise<AgentReply> => {
    const outcome = await leases.change(change);
    return outcome === "changed" ? { status: 200, body: { missing: [] } } : refusals[outcome];
  };

  const putChange = async (request: IncomingMessage): Promise<AgentReply> => {
    const read = await parseBody(request, BrowserChange, {
      maxBytes: maxSetupBytes,
      open: (bytes) => openText(agentKey, bytes),
    });
    if ("refused" in read) return read.refused;
    const { apply, ...change } = read.body;
    if (!changesBrowser(change)) return changeLease(change);
    if (!leases.prepare(change)) return refusals.not_holder;
    const mine = preparedFor(read.body);
    const archives = await mine.archives;
    if (!apply || missingIn(archivesOf(read.body), archives).length > 0) return missing(mine);
    const outcome = await leases.change(change, archives);
    return outcome === "changed" ? missing(mine) : refusals[outcome];
  };

  const putArchive = async (request: IncomingMessage): Promise<AgentReply> => {
    const mine = prepared;
    const wanted = mine && archivesOf(mine.change).find(isAt(request.url));
    if (!mine || !wanted || !leases.isHeldBy(mine.lease)) return refusals.not_found;
    const archives = await mine.archives;
    const isHere = archives.has(wanted.sha256) || (await archives.receive(request, wanted));
    return isHere ? missing(mine) : refusals.other_archive;
  };

  return { "/change": { PUT: putChange }, "/archives/": { PUT: putArchive } };
};
