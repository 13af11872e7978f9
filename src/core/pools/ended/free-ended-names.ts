/**
 * Frees the names of sessions that are over, while this replica leads. Whoever ends a session frees its name. This loop
 * does it for those who could not: a replica died between two steps, or Redis was away.
 *
 * A replica reserves a name before the session is in Redis, or before it has that name. So a name goes when two sweeps
 * in a row found it without its session: no such step lasts as long as the time between them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../platform/base/log.ts";
import { projectLabel } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { namespaces } from "../../../platform/kube/resource-type.ts";
import type { NamesInUse } from "../../leases/names-in-use.ts";
import type { ReservedName, SessionNames } from "../../reservations/session-names.ts";
import type { AcceptedSessions } from "../observe/accepted-sessions.ts";

export type FreeNamesDeps = {
  kube: Pick<Kube, "list">;
  namesInUse: NamesInUse;
  names: Pick<SessionNames, "page" | "free">;
  acceptedSessions: Pick<AcceptedSessions, "uids" | "synced">;
  log: Logger;
  /** Throws when this replica may not write (any more). */
  check(): void;
};

/** Time between two sweeps, ms. The steps of a replica take some seconds. */
const sweepMs = 60_000;

/** Names that one sweep notes for the next one, of at most 0.4 kB each. More of them have to wait. */
const mostNoted = 20_000;

const groupByPool = (page: ReservedName[]): Map<string, ReservedName[]> =>
  Map.groupBy(page, ({ owner }) => owner.poolUid);

/**
 * The names of one page whose sessions are over, or have another name. A session of a pool that is being recovered may
 * live.
 */
const endedOf = async (
  page: ReservedName[],
  exists: ReadonlySet<string>,
  { namesInUse }: FreeNamesDeps,
): Promise<ReservedName[]> => {
  const ended = await Promise.all(
    [...groupByPool(page)].map(async ([poolUid, reserved]) => {
      const asked = reserved.map(({ name, owner }) => ({ session: owner.session, name }));
      const { isRecovering, inUse } = await namesInUse(poolUid, asked);
      return isRecovering && exists.has(poolUid) ? [] : reserved.filter((_, index) => !inUse[index]);
    }),
  );
  return ended.flat();
};

/** The pages of a project's names; none after `signal` is aborted. */
async function* pagesOf(
  project: string,
  { names }: FreeNamesDeps,
  signal: AbortSignal,
): AsyncGenerator<ReservedName[]> {
  let cursor: string | undefined;
  do {
    const { reserved, next } = await names.page(project, cursor);
    yield reserved;
    cursor = next;
  } while (cursor !== undefined && !signal.aborted);
}

const projectsOf = async ({ kube }: FreeNamesDeps): Promise<string[]> => {
  const { items } = await kube.list(namespaces, { labelSelector: projectLabel });
  return items.map(({ metadata }) => metadata.labels?.[projectLabel] ?? "");
};

/**
 * A sweep over the names of all projects; resolves with the number of names that it freed. `most`: names that it notes.
 */
export const createNameSweep = (deps: FreeNamesDeps, most = mostNoted): ((signal: AbortSignal) => Promise<number>) => {
  let noted = new Set<string>();
  return async (signal) => {
    const before = noted;
    noted = new Set();
    let freed = 0;
    const freeOrNote = async (project: string, { name, owner }: ReservedName): Promise<void> => {
      const note = [project, name, owner.poolUid, owner.session].join("/");
      if (before.has(note)) {
        deps.check();
        await deps.names.free(project, name, owner);
        freed++;
      } else if (noted.size < most) noted.add(note);
    };
    await deps.acceptedSessions.synced(signal);
    const exists = deps.acceptedSessions.uids();
    for (const project of await projectsOf(deps)) {
      for await (const page of pagesOf(project, deps, signal))
        await Promise.all((await endedOf(page, exists, deps)).map((one) => freeOrNote(project, one)));
    }
    return freed;
  };
};

/** Runs until `signal` is aborted. Never rejects: what fails is tried again by the next sweep. */
export const freeEndedNames = async (deps: FreeNamesDeps, signal: AbortSignal): Promise<void> => {
  const sweep = createNameSweep(deps);
  while (!signal.aborted) {
    try {
      const freed = await sweep(signal);
      if (freed > 0) deps.log.info({ freed }, "names of ended sessions were still reserved; they are free now");
    } catch (err) {
      deps.log.debug({ err }, "the names of sessions were not swept");
    }
    await sleep(sweepMs, undefined, { signal }).catch(() => undefined);
  }
};
