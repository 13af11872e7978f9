/**
 * Fails the outside calls of a piece of work, each in its turn:
 *
 *   refused   the call does nothing, and an error comes
 *   lost      the call is done, and its answer is lost: an error comes
 *   away      the call and all later ones to the same part do nothing
 *   death     the call and all later ones to every part do nothing: the process has died
 *   last      the call is done, its answer is lost, and all later ones to the same part do nothing
 *   gone      the call is done, and whoever wants the work has gone when its answer comes
 *
 * The work runs once without faults, which tells its calls; then once for each of them and each kind of fault. When the
 * work has ended, all parts are well again, so that what goes on behind it can end; but those of a process that has
 * died.
 */
import { setImmediate as afterThis } from "node:timers/promises";
import { unavailable } from "../../src/platform/base/errors.ts";
import { KubeError } from "../../src/platform/kube/kube-error.ts";

/** What the parts of a process that lives on may do. */
export const faultKinds = ["refused", "lost", "away"] as const;
export type FaultKind = (typeof faultKinds)[number] | "death" | "last" | "gone";

/** `call`: the number of the call, from 0. `leave`: has whoever wants the work go. */
type Fault = { kind: FaultKind; call: number; leave?: (() => Promise<void>) | undefined };

/** A fault that was tried, with the name of its call; `none` where the work ran without one. */
export type TriedFault = { kind: FaultKind | "none"; call: number; name: string };

/** What the calls of each part answer when it does not: most throw, calls to agents never do. */
type Failures = Record<string, () => unknown>;

const away = (what: string) => (): never => {
  throw unavailable(what);
};
const unreachable = (): unknown => ({ kind: "unreachable", reason: "injected" });

/** Parts of `ServiceDeps` whose methods go outside, and how each fails. */
export const serviceFailures = {
  kube: away("the Kubernetes API"),
  store: away("Redis"),
  endedLeases: away("Redis"),
  names: away("Redis"),
  namesComplete: away("Redis"),
  locks: away("Redis"),
  sessionRoom: away("Redis"),
  itemEvents: away("Redis"),
  siteReports: away("Redis"),
  blobs: away("the blob store"),
  agents: unreachable,
  setupClient: unreachable,
} satisfies Failures;

const kubeFails = (reason: string, status: number) => (): never => {
  throw new KubeError(reason, status, 'pods "x" is forbidden: by a fault of the test');
};

/** Parts of the operator whose methods go outside, and how each fails when it does not answer. */
export const operatorFailures = {
  ...serviceFailures,
  kube: kubeFails("Unreachable", 0),
  repairs: away("Redis"),
  leavingMarks: away("Redis"),
  setupRequests: away("Redis"),
} satisfies Failures;

/** The same where the API server answers, and refuses for good. */
export const operatorRefusals = { ...operatorFailures, kube: kubeFails("Forbidden", 403) } satisfies Failures;

/** Settle, and are no calls of the work: they take work, wait for ever, or have nothing to do as a rule. */
const notCounted = new Set(["locks.hold", "kube.watch", "agents.close", "setupClient.close", "store.dropConfigs"]);

/**
 * Change nothing: with these calls a lost answer or a death is what it is with the call after them, or with a refusal.
 */
const isRead = (name: string): boolean =>
  /\.(get|list|snapshot|examine|session|stateOf|find|page|resources|endedLease|lease|state)$/.test(name);

type Injected<Parts> = {
  parts: Parts;
  /** Names of the calls so far, such as `kube.create`, in their order. */
  calls: readonly string[];
  /** Ends the fault. */
  heal(): void;
  /** Aborted when a second call fails: whoever did not end after the first one tries again and again. */
  missedTwice: AbortSignal;
};

type Method = (...args: unknown[]) => unknown;

/** Names of the methods that go outside: they answer with a promise. Grows with what is seen. */
const outside = new Set<string>();

/** Whether the call itself is done. */
const isDoneWith: Record<FaultKind, boolean> = {
  refused: false,
  lost: true,
  away: false,
  death: false,
  last: true,
  gone: true,
};

/** What comes of the answer to a call that is done. */
const answered = (
  answer: Promise<unknown>,
  fault: FaultKind | undefined,
  { fail, leave }: Pick<Fault, "leave"> & { fail: () => unknown },
): Promise<unknown> => {
  if (fault === undefined) return answer;
  return fault === "gone" ? answer.finally(leave) : answer.then(fail);
};

/** `parts` whose calls are counted; with a fault, one of them fails. */
export const injected = <Parts extends object>(parts: Parts, failures: Failures, fault?: Fault): Injected<Parts> => {
  const calls: string[] = [];
  const missedTwice = new AbortController();
  let missed = 0;
  let away: readonly string[] = [];
  let isHealed = false;
  const goesAway = (kind: FaultKind | undefined, part: string): readonly string[] => {
    if (kind === "death") return Object.keys(failures);
    return kind === "away" || kind === "last" ? [part] : away;
  };
  const wrap = (part: string, method: string, call: Method): Method => {
    const name = `${part}.${method}`;
    if (notCounted.has(name)) return call;
    const fail = (): unknown => {
      missed += 1;
      if (missed === 2) missedTwice.abort(new Error("two calls have failed: the process is gone"));
      return failures[part]?.();
    };
    const watched: Method = (...args) => {
      const answer = call(...args);
      if (!(answer instanceof Promise)) return answer;
      outside.add(name);
      calls.push(name);
      return answer;
    };
    const failing = ({ kind, call: at, leave }: Fault, args: unknown[]): unknown => {
      const now = calls.length === at ? kind : undefined;
      calls.push(name);
      if (isHealed) return call(...args);
      const isDone = !away.includes(part) && (now === undefined || isDoneWith[now]);
      away = goesAway(now, part);
      return isDone ? answered(call(...args) as Promise<unknown>, now, { fail, leave }) : Promise.resolve().then(fail);
    };
    return (...args) => (fault && outside.has(name) ? failing(fault, args) : watched(...args));
  };
  const wrapped = Object.fromEntries(
    Object.keys(failures)
      .filter((part) => part in parts)
      .map((part) => {
        const real = (parts as Record<string, object>)[part] as object;
        const proxy = new Proxy(real, {
          get(target, method, receiver) {
            const value: unknown = Reflect.get(target, method, receiver);
            if (typeof value !== "function" || typeof method !== "string") return value;
            return wrap(part, method, (value as Method).bind(target));
          },
        });
        return [part, proxy];
      }),
  );
  const heal = (): void => {
    isHealed = fault?.kind !== "death";
  };
  return { parts: { ...parts, ...wrapped }, calls, heal, missedTwice: missedTwice.signal };
};

/** How the work ended: its result or what it threw. */
export type Ended<Result> = { result: Result } | { error: unknown };

type EveryFault<State, Result, Parts extends object> = {
  parts: Parts;
  failures: Failures;
  kinds?: readonly FaultKind[];
  /** Of calls that change nothing; left out, the same. */
  readKinds?: readonly FaultKind[];
  /** Whether this fault is tried; left out, each is. */
  isTried?(fault: TriedFault): boolean;
  /** What the work begins with, made anew each time and without faults. */
  prepare(): Promise<State>;
  /** `missedTwice`: for work that tries again without an end (`Injected`). */
  work(state: State, parts: Parts, missedTwice: AbortSignal): Promise<Result>;
  /** Has whoever wants the work go, for faults of the kind `gone`. */
  leave?(state: State): Promise<void>;
  /** Waits until nothing goes on behind the work any more. */
  settle?(state: State): Promise<void>;
  /** What must hold then, whatever has failed, and also when nothing has. Throws when it does not. */
  check(state: State, ended: Ended<Result>, fault: TriedFault): Promise<void>;
};

/** How the work ends. Never rejects. */
export const endOf = async <Result>(work: Promise<Result>): Promise<Ended<Result>> => {
  try {
    return { result: await work };
  } catch (error) {
    return { error };
  }
};

/** Calls `run`; rejects also when it leaves a rejection that nobody handles. */
const withoutUnhandled = async (run: () => Promise<void>): Promise<void> => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    await run();
    // Node tells of a rejection when all that was ready has run.
    await afterThis();
  } finally {
    process.off("unhandledRejection", note);
  }
  if (unhandled.length > 0) throw new Error(`nobody handles the rejection: ${unhandled.map(String).join("; ")}`);
};

/**
 * Runs the work with every fault in turn. Returns the names of its calls. Rejects with the first check that fails, and
 * says which call had failed. The work must succeed without faults.
 */
export const tryEveryFault = async <State, Result, Parts extends object>({
  parts,
  failures,
  kinds = faultKinds,
  readKinds = kinds,
  isTried = () => true,
  prepare,
  work,
  leave = async () => undefined,
  settle = async () => undefined,
  check,
}: EveryFault<State, Result, Parts>): Promise<string[]> => {
  const plain = injected(parts, failures);
  const first = await prepare();
  const result = await work(first, plain.parts, plain.missedTwice);
  await settle(first);
  const names = [...plain.calls];
  await check(first, { result }, { kind: "none", call: -1, name: "none" });
  for (const [call, name] of names.entries())
    for (const kind of isRead(name) ? readKinds : kinds) {
      const fault = { kind, call, name };
      if (!isTried(fault)) continue;
      const state = await prepare();
      const run = injected(parts, failures, { ...fault, leave: () => leave(state) });
      try {
        await withoutUnhandled(async () => {
          const ended = await endOf(work(state, run.parts, run.missedTwice));
          run.heal();
          await settle(state);
          await check(state, ended, fault);
        });
      } catch (cause) {
        throw new Error(`with call ${call} (${name}) of [${names.join(", ")}] ${kind}: ${String(cause)}`, { cause });
      }
    }
  return names;
};

/** The same for rounds, of which there are many: a read is only refused. */
export const tryEveryFaultOfRounds = <State, Result, Parts extends object>(
  options: EveryFault<State, Result, Parts>,
): Promise<string[]> => tryEveryFault({ readKinds: ["refused"], ...options });
