/**
 * The executors of one lease: the default one, those with names, and the REPL's. Each has a process from its first call
 * on, and carries out one call at a time, in the order in which they came.
 *
 *   none ──call──► starting ──► running ──┬── the code takes too long, or the process or its connection fails ──► none
 *                                         ├── deleted: gone (the default one: none)
 *                                         └── the lease ends: gone
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { defaultExecutor } from "../calls.ts";
import type { ExecutorOrder } from "./executor-orders.ts";
import type { ExecutorProcess } from "./executor-process.ts";
import { gatherOutcome, type Outcome } from "./outcome.ts";
import type { Tabs } from "./tabs.ts";

/** Executors with names that one session may have. */
const mostNamed = 8;

/** How long a call waits for its turn, ms. */
const turnMs = 60_000;

const usualSeconds = 60;

type ExecutorState = {
  name: string;
  createdAt: Date;
  lastUsedAt: Date;
  /** Resolves when all calls until now are over. */
  turn: Promise<unknown>;
  isBusy: boolean;
  process: Promise<ExecutorProcess> | undefined;
  /** Its own tab. */
  targetId: string | undefined;
  isDeleted: boolean;
};

const newState = (name: string, since = new Date()): ExecutorState => ({
  ...{ name, createdAt: since, lastUsedAt: since, turn: Promise.resolve(), isBusy: false, isDeleted: false },
  ...{ process: undefined, targetId: undefined },
});

/** `isWanted`: whether its caller is still there. */
type Asked = Pick<ExecutorOrder, "code" | "mode"> & { seconds: number | undefined; isWanted(): boolean };

/** `process`: the one that ran it. `hasEnded`: it has ended by this call. `isLate`: because its time was over. */
export type Ran = Outcome & { process: ExecutorProcess; hasEnded: boolean; isLate: boolean };

type ExecutorsDeps = {
  start(): Promise<ExecutorProcess>;
  tabs: Tabs;
  /** The start of the lease. */
  since: Date;
};

export type Executors = {
  /** Runs code in an executor; undefined: in the REPL. Throws a `CallRefused`. */
  run(name: string | undefined, asked: Asked): Promise<Ran>;
  /** Ends the REPL. */
  resetRepl(): void;
  list(): Promise<ReturnType<typeof infoOf>[]>;
  delete(name: string, closeTab: boolean): Promise<void>;
};

const infoOf = ({ name, createdAt, lastUsedAt, isBusy, targetId }: ExecutorState, url: string | undefined) => ({
  name,
  busy: isBusy,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt.toISOString(),
  ...(targetId !== undefined && { target_id: targetId }),
  ...(url !== undefined && { url }),
});

const endProcess = (state: ExecutorState, why: string): void => {
  const { process } = state;
  state.process = undefined;
  process?.then(
    ({ end }) => end(why),
    () => undefined,
  );
};

const failure = (error: string) => ({ error, stack: error });

/** Runs code in a process until it is over, or its time is. */
const runIn = async (process: ExecutorProcess, order: Omit<ExecutorOrder, "id">, seconds: number): Promise<Ran> => {
  const gathered = gatherOutcome();
  const late = `the code did not come to its end within ${seconds} s; its executor was ended, with what it had kept`;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.end(late);
  }, seconds * 1000);
  try {
    const last = await process.order(order, gathered.take);
    if (last.is === "ended") return { ...gathered.outcome(failure(last.why)), process, hasEnded: true, isLate };
    const { error, stack } = last.is === "failed" ? last : failure("");
    const end = last.is === "returned" ? { json: last.json } : { error, stack };
    return { ...gathered.outcome(end), process, hasEnded: false, isLate };
  } finally {
    clearTimeout(timer);
  }
};

/** None has a process yet. */
export const createExecutors = ({ start, tabs, since }: ExecutorsDeps): Executors => {
  const usual = newState(defaultExecutor, since);
  const repl = newState("repl", since);
  const named = new Map<string, ExecutorState>();

  const find = (name: string): ExecutorState | undefined => (name === defaultExecutor ? usual : named.get(name));

  const findOrMake = (name: string): ExecutorState => {
    const found = find(name);
    if (found) return found;
    if (named.size >= mostNamed)
      throw new CallRefused(
        "conflict",
        `there are ${mostNamed} executors: ${[...named.keys()].join(", ")}; delete one`,
      );
    const made = newState(name);
    named.set(name, made);
    return made;
  };

  const processOf = async (state: ExecutorState): Promise<ExecutorProcess> => {
    const starting = state.process ?? start();
    state.process = starting;
    const forget = (): void => {
      if (state.process === starting) state.process = undefined;
    };
    try {
      const process = await starting;
      void process.ended.then(forget);
      return process;
    } catch (error) {
      forget();
      throw error;
    }
  };

  const tabOf = async (state: ExecutorState): Promise<string | undefined> => {
    const open = await tabs.list();
    if (!named.has(state.name)) return open.at(-1)?.id;
    return open.find(({ id }) => id === state.targetId)?.id;
  };

  const runNow = async (
    state: ExecutorState,
    { code, mode, seconds = usualSeconds, isWanted }: Asked,
  ): Promise<Ran> => {
    if (state.isDeleted) throw new CallRefused("conflict", `the executor ${state.name} was deleted`);
    if (!isWanted()) throw new CallRefused("conflict", "the caller has gone");
    state.isBusy = true;
    state.lastUsedAt = new Date();
    const runOnce = async (): Promise<Ran> => {
      const process = await processOf(state);
      const tab = await tabOf(state);
      return runIn(process, { code, mode, ...(tab !== undefined && { tab }) }, seconds);
    };
    const first = await runOnce();
    // It was at its end when the order came, and has run nothing of it.
    const isUntried = first.hasEnded && !first.tab && !first.isLate && !state.isDeleted;
    const ran = isUntried ? await runOnce() : first;
    if (named.get(state.name) === state && ran.tab) state.targetId = ran.tab.target_id;
    return ran;
  };

  return {
    async run(name, asked) {
      const state = name === undefined ? repl : findOrMake(name);
      const before = state.turn;
      const over = Promise.withResolvers<void>();
      state.turn = before.then(() => over.promise);
      const stop = new AbortController();
      try {
        const late = sleep(turnMs, "late", { signal: stop.signal }).catch(() => undefined);
        if ((await Promise.race([before, late])) === "late")
          throw new CallRefused("too_many_requests", `the executor runs other code since ${turnMs / 1000} s`);
        try {
          return await runNow(state, asked);
        } finally {
          state.isBusy = false;
        }
      } finally {
        stop.abort();
        over.resolve();
      }
    },
    resetRepl: () => endProcess(repl, "the REPL was reset"),
    async list() {
      const open = new Map((await tabs.list()).map(({ id, url }) => [id, url]));
      return [usual, ...named.values()].map((state) => infoOf(state, open.get(state.targetId ?? "")));
    },
    async delete(name, closeTab) {
      const state = find(name);
      if (!state) throw new CallRefused("missing", `there is no executor ${name.slice(0, 100)}`);
      if (state === usual) return endProcess(state, "the executor was restarted");
      state.isDeleted = true;
      named.delete(name);
      endProcess(state, "the executor was deleted");
      if (closeTab && state.targetId !== undefined) await tabs.close(state.targetId);
    },
  };
};
