/**
 * Whether there is room for another browser: the same decision for HTTP, which refuses the request, and for the
 * operator, which refuses an object that YAML made.
 */

// How many browsers may run at once in a project: annotations of namespaces, since one number needs no kind of its own.

/** The annotation of a project's namespace with its own cap of sessions. */
export const projectCapAnnotation = "browserpool.dev/max-concurrent-sessions";

/** The annotation of the system namespace with the cap of each project without its own. */
export const defaultCapAnnotation = "browserpool.dev/default-project-max-concurrent-sessions";

/** Parses a cap from an annotation; undefined for none and for anything but a whole number above 0. */
export const readCap = (text: string | undefined): number | undefined => {
  const cap = Number(text);
  return Number.isSafeInteger(cap) && cap > 0 ? cap : undefined;
};

/** The organization's default cap is never above what the organization may run. */
export const boundedCap = (cap: number | undefined, organizationSessions: number): number | undefined =>
  cap === undefined ? undefined : Math.min(cap, organizationSessions);

/**
 * The organization's limits of browsers. `projectOnDemandSessions`: on-demand browsers of a project that no cap bounds.
 */
export type SessionLimits = { pooledSessions: number; onDemandSessions: number; projectOnDemandSessions: number };

/** Browsers that run or may run: the sizes of pools, and on-demand browsers. */
export type SessionCounts = { pooled: number; onDemand: number };

/** What a project may run. `cap`: its own, else the organization's default for projects; undefined: none. */
export type SessionUse = {
  cap: number | undefined;
  inProject: SessionCounts;
  onDemandInAll: number;
  limits: SessionLimits;
};

/**
 * The room for further on-demand browsers, 0 or more: in the project, and in the organization. `countsPools`: the
 * project's room is that of a cap, which pools use up too.
 */
type OnDemandRoom = { project: number; organization: number; countsPools: boolean };

/** The room that is left for on-demand browsers. */
export const onDemandRoom = ({ cap, inProject, onDemandInAll, limits }: SessionUse): OnDemandRoom => {
  const left =
    cap === undefined
      ? limits.projectOnDemandSessions - inProject.onDemand
      : cap - inProject.pooled - inProject.onDemand;
  return {
    project: Math.max(0, left),
    organization: Math.max(0, limits.onDemandSessions - onDemandInAll),
    countsPools: cap !== undefined,
  };
};

/** Why there is no room for another on-demand browser, as a sentence for callers. */
export const noOnDemandRoom = (
  { cap, inProject: { pooled, onDemand }, limits }: SessionUse,
  room: OnDemandRoom,
): string => {
  if (room.project === 0 && cap !== undefined)
    return `the project may run ${cap} browsers at once: ${pooled} are in its pools, ${onDemand} were started on demand`;
  if (room.project === 0)
    return `a project without a cap of its own may run ${limits.projectOnDemandSessions} on-demand browsers at once`;
  return `the organization may run ${limits.onDemandSessions} on-demand browsers at once, and they are in use`;
};

/**
 * The largest size that a project's cap leaves to a pool, maybe below 0; Infinity without one. `inProject`: without
 * this pool.
 */
export const roomOfPool = ({ cap = Infinity, inProject }: Pick<SessionUse, "cap" | "inProject">): number =>
  cap - inProject.pooled - inProject.onDemand;

/**
 * Why a pool may not grow to `size`, as the end of a sentence; undefined when it may. `inProject`: without this pool.
 */
export const poolAboveCap = (
  size: number,
  { cap, inProject: { pooled, onDemand } }: Pick<SessionUse, "cap" | "inProject">,
): string | undefined => {
  if (cap === undefined || pooled + onDemand + size <= cap) return undefined;
  const others =
    onDemand === 0 ? `${pooled} of other pools` : `${pooled} of other pools and ${onDemand} on-demand browsers`;
  return `with ${others} it exceeds the project's limit of ${cap} sessions`;
};
