/** Tells whether the operator may start browsers in a namespace yet. */
export type StartGate = {
  /** What the namespace still lacks, as text for users; undefined: browsers may be started there. */
  waitsFor(namespace: string): string | undefined;
  /** Calls `listener` when that changes for a namespace. Returns a function that unsubscribes. */
  onChange(listener: (namespace: string) => void): () => void;
};

/** A gate that is always open, for installations that keep no objects in projects. */
export const openGate: StartGate = { waitsFor: () => undefined, onChange: () => () => undefined };

export type ProjectGate = StartGate & {
  open(namespace: string): void;
  /** `why`: what the namespace lacks; undefined when it is no project any more. */
  close(namespace: string, why?: string): void;
};

const notYet = "its namespace is no project yet, or its project's objects are not there yet";

/** Makes a gate that is closed for every namespace until `open` is called for it. */
export const createProjectGate = (): ProjectGate => {
  /** Namespace → what it lacks; "" when it is open. */
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
