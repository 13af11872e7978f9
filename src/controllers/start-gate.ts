/** Whether browsers may be started in a namespace yet. */
export type StartGate = {
  /** What the namespace waits for, for people; undefined: browsers may be started there. */
  waitsFor(namespace: string): string | undefined;
  /** Calls back when that changes for a namespace, until the result is called. */
  onChange(listener: (namespace: string) => void): () => void;
};

/** For installations that keep no objects in projects: nothing is ever waited for. */
export const openGate: StartGate = { waitsFor: () => undefined, onChange: () => () => undefined };

export type ProjectGate = StartGate & {
  open(namespace: string): void;
  /** `why`: undefined for a namespace that is not looked after any more. */
  close(namespace: string, why?: string): void;
};

const notYet = "its namespace is no project yet, or its project's objects are not there yet";

/** Closed for every namespace until it is opened. */
export const createProjectGate = (): ProjectGate => {
  /** Namespace → what it waits for, "" for nothing. */
  const known = new Map<string, string>();
  const listeners = new Set<(namespace: string) => void>();
  const set = (namespace: string, why: string | undefined): void => {
    const before = known.get(namespace);
    if (why === undefined) known.delete(namespace);
    else known.set(namespace, why);
    if (before !== why) for (const listener of listeners) listener(namespace);
  };
  return {
    waitsFor: (namespace) => (known.get(namespace) ?? notYet) || undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    open: (namespace) => set(namespace, ""),
    close: set,
  };
};
