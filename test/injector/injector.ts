/**
 * Fails the outside calls of a piece of work, each in its turn:
 *
 *   refused   the call does nothing, and an error comes
 *   lost      the call is done, and its answer is lost: an error comes
 *   away      the call and all later ones to the same part do nothing
 *   death     the call and all later ones to every part do nothing: the process has died
 *
 * The work runs once without faults, which tells its calls; then once for each of them and each kind of fault.
 */
import { setImmediate as afterThis } from "node:timers/promises";
import { unavailable } from "../../src/errors.ts";
import { KubeError } from "../../src/kube/kube-error.ts";

/** What the parts of a process that lives on may do. */
export const faultKinds = ["refused", "lost", "away"] as const;
export type FaultKind = (typeof faultKinds)[number] | "death";

/** `call`: the number of the call, from 0. */
export type Fault = { kind: FaultKind; call: number };

/** What the calls of each part answer when it does not: most throw, calls to agents never do. */
export type Failures = Record<string, () => unknown>;

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
  namesWhole: away("Redis"),
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

/** Change nothing: with these calls a lost answer or a death is what it is with the call after them, or with a refusal. */
const isRead = (name: string): boolean =>
  /\.(get|list|snapshot|examine|session|stateOf|find|page|resources|endedLease|lease|state)$/.test(name);

export type Injected<Parts> = {
  parts: Parts;
  /** Names of the calls so far, such as `kube.create`, in their order. */
  calls: readonly string[];
};

type Method = (...args: unknown[]) => unknown;

/** Names of the methods that go outside: they answer with a promise. Grows with what is seen. */
const outside = new Set<string>();

/** `parts` whose calls are counted; with a fault, one of them fails. */
export const injected = <Parts extends object>(parts: Parts, failures: Failures, fault?: Fault): Injected<Parts> => {
  const calls: string[] = [];
  let away = new Set<string>();
  const goesAway: Record<FaultKind, (part: string) => string[]> = {
    refused: () => [],
    lost: () => [],
    away: (part) => [part],
    death: () => Object.keys(failures),
  };
  const wrap = (part: string, method: string, call: Method): Method => {
    const name = `${part}.${method}`;
    if (notCounted.has(name)) return call;
    const fail = failures[part] as () => unknown;
    const watched: Method = (...args) => {
      const answer = call(...args);
      if (!(answer instanceof Promise)) return answer;
      outside.add(name);
      calls.push(name);
      return answer;
    };
    const failing = ({ kind, call: at }: Fault, args: unknown[]): unknown => {
      const isNow = calls.length === at;
      calls.push(name);
      if (isNow) away = new Set(goesAway[kind](part));
      if (away.has(part) || (isNow && kind === "refused")) return Promise.resolve().then(fail);
      const answer = call(...args) as Promise<unknown>;
      return isNow && kind === "lost" ? answer.then(fail) : answer;
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
  return { parts: { ...parts, ...wrapped }, calls };
};

/** How the work ended: its result or what it threw. */
export type Ended<Result> = { result: Result } | { error: unknown };

export type EveryFault<State, Result, Parts extends object> = {
  parts: Parts;
  failures: Failures;
  kinds?: readonly FaultKind[];
  /** Of calls that change nothing; left out, the same. */
  readKinds?: readonly FaultKind[];
  /** What the work begins with, made anew each time and without faults. */
  prepare(): Promise<State>;
  work(state: State, parts: Parts): Promise<Result>;
  /** What must hold then, whatever has failed. Throws when it does not. */
  check(state: State, ended: Ended<Result>, fault: Fault & { name: string }): Promise<void>;
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
 * Runs the work with every fault in turn. Returns the names of its calls. Rejects with the first check that fails, and says which call had
 * failed. The work must succeed without faults.
 */
export const tryEveryFault = async <State, Result, Parts extends object>({
  parts,
  failures,
  kinds = faultKinds,
  readKinds = kinds,
  prepare,
  work,
  check,
}: EveryFault<State, Result, Parts>): Promise<string[]> => {
  const plain = injected(parts, failures);
  await work(await prepare(), plain.parts);
  const names = [...plain.calls];
  for (const [call, name] of names.entries())
    for (const kind of isRead(name) ? readKinds : kinds) {
      const fault = { kind, call, name };
      const state = await prepare();
      try {
        await withoutUnhandled(async () => {
          const ended = await endOf(work(state, injected(parts, failures, fault).parts));
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
