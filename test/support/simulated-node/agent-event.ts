/**
 * What an agent of the simulated node tells of itself, at the moment it does it.
 *
 *   bound     it took a lease: from now on `session` may use its browser
 *   ended     it gave up the lease of `session`, or used up the fence of one that had not reached it
 *   refused   it refused a bind, an end or a socket with `code`
 *   raised    it refuses binds of epochs below `epoch` from now on
 *   cdp       a command has reached its browser: `session` is who the client says it is, `holder` who held the browser in
 *             that moment. A command that was on its way when its lease ended comes with `holder: null`.
 *   reset     it has made its browser anew
 *   exit      its process is gone; `code` says why
 */
export type AgentEvent = {
  kind: "agent";
  /** ms of CLOCK_MONOTONIC with fractions, comparable between processes of one machine. */
  at: number;
  what: "bound" | "ended" | "refused" | "raised" | "cdp" | "reset" | "exit";
  /** Uid of the pod, which is the browser's id. */
  browser: string;
  pod: string;
  session?: string;
  holder?: string | null;
  epoch?: number;
  seq?: number;
  code?: string;
  /** Cdp: what the client put into the command's `params.command`. */
  command?: string;
};

/** An event but for what all events of one agent have in common. */
export type Said = Omit<AgentEvent, "kind" | "at" | "browser" | "pod">;

/** Now, in ms of CLOCK_MONOTONIC. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Stamps what one agent says and hands it on. */
export const speakerOf =
  ({ uid, name }: { uid: string; name: string }, observe: (event: AgentEvent) => void) =>
  (said: Said): void =>
    observe({ kind: "agent", at: monotonicMs(), browser: uid, pod: name, ...said });
