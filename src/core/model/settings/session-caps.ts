/** How many browsers may run at once in a project: annotations of namespaces, since one number needs no kind of its own. */

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
