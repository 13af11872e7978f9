/**
 * Fails the outside calls of a piece of work, each in its turn:
 *
 *   refused   the call does nothing, and an error comes
 *   lost      the call is done, and its answer is lost: an error comes
 *   away      the call and all later ones to the same part do nothing
 *
 * The work runs once without faults, which tells its calls; then once for each of them and each kind of fault.
 */
import { unavailable } from "../../src/errors.ts";

export const faultKinds = ["refused", "lost", "away"] as const;
export type FaultKind = (typeof faultKinds)[number];

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

/** Settle, and are no calls of the work: they take work, or wait for ever. */
const notCounted = new Set(["locks.hold", "kube.watch", "agents.close", "setupClient.close"]);

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
  let awayPart: string | undefined;
  const wrap = (part: string, method: string, call: Method): Method => {
    const name = `${part}.${method}`;
    if (notCounted.has(name)) return call;
    const fail = failures[part] ?? away(part);
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
      if (isNow && kind === "away") awayPart = part;
      if (awayPart === part || (isNow && kind === "refused")) return Promise.resolve().then(fail);
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
  /** What the work begins with, made anew each time and without faults. */
  prepare(): Promise<State>;
  work(state: State, parts: Parts): Promise<Result>;
  /** What must hold then, whatever has failed. Throws when it does not. */
  check(state: State, ended: Ended<Result>, fault: Fault & { name: string }): Promise<void>;
};

const endOf = async <Result>(work: Promise<Result>): Promise<Ended<Result>> => {
  try {
    return { result: await work };
  } catch (error) {
    return { error };
  }
};

/**
 * Runs the work with every fault in turn. Returns the names of its calls. Rejects with the first check that fails, and says which call had
 * failed. The work must succeed without faults.
 */
export const tryEveryFault = async <State, Result, Parts extends object>({
  parts,
  failures,
  kinds = faultKinds,
  prepare,
  work,
  check,
}: EveryFault<State, Result, Parts>): Promise<string[]> => {
  const plain = injected(parts, failures);
  await work(await prepare(), plain.parts);
  const names = [...plain.calls];
  for (const [call, name] of names.entries())
    for (const kind of kinds) {
      const fault = { kind, call, name };
      const state = await prepare();
      const ended = await endOf(work(state, injected(parts, failures, fault).parts));
      try {
        await check(state, ended, fault);
      } catch (cause) {
        throw new Error(`with call ${call} (${name}) of [${names.join(", ")}] ${kind}: ${String(cause)}`, { cause });
      }
    }
  return names;
};
