/**
 * The promise of the pool, kept with real browsers: callers take turns with a few Chromiums, each leaves its name in
 * the browser, and each looks what it finds there. In between Chromiums and agents are killed while they are held,
 * idle, and in the instant of a hand-over. Everything goes through the public API of local mode; Redis is only asked
 * which pod a session has, and the browsers' own marks confirm that.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { processesOf } from "../../support/processes.ts";
import { createLedger, type Ledger, type Violation } from "./ledger.ts";
import { type Parts, startParts } from "./parts.ts";
import { createSchedule, type Schedule, type StayPlan } from "./schedule.ts";
import { killIn, type StayEnd, stayOnce } from "./stay.ts";

const size = 4;
/** More than browsers, so that somebody waits for nearly every release. */
const callers = 6;
/** Few enough callers that browsers are idle. */
const quietCallers = 2;

type ChromiumLoad = {
  /** Stays that end with an accepted release. */
  handOvers: number;
  crashes: number;
  seed: number;
  signal: AbortSignal;
  /** Told how far the run is, now and then, and of each violation as soon as it is seen. */
  say?: (line: string) => void;
};

type ChromiumResult = {
  handOvers: number;
  reused: number;
  destroyed: number;
  /** Kills by moment and victim, e.g. `held chromium`. */
  crashes: Record<string, number>;
  /** Stays that ended early, each by a kill. */
  broken: number;
  violations: readonly Violation[];
  seconds: number;
};

type Tally = Omit<ChromiumResult, "crashes" | "violations" | "seconds"> & { holders: number };

type Run = {
  parts: Parts;
  ledger: Ledger;
  schedule: Schedule;
  tally: Tally;
  load: ChromiumLoad;
  /** Aborted by the first caller that can't go on. */
  stop: AbortController;
  /** Whoever wants idle browsers now. */
  quiet: Set<object>;
  /** Violations that were said already. */
  told: number;
};

const count = (tally: Tally, { reuse }: StayPlan, end: StayEnd): void => {
  if (end !== "handed-over") tally.broken += 1;
  else {
    tally.handOvers += 1;
    tally[reuse ? "reused" : "destroyed"] += 1;
  }
};

const report = (run: Run): void => {
  const { tally, ledger, load } = run;
  const violations = ledger.violations();
  for (const { what, holder, pod, details } of violations.slice(run.told))
    load.say?.(`VIOLATION: ${holder} in ${pod}: ${what} ${details ? JSON.stringify(details) : ""}`);
  run.told = Math.max(run.told, violations.length);
  const crashes = Object.values(ledger.kills()).reduce((sum, made) => sum + made, 0);
  const every = Math.max(1, Math.floor(load.handOvers / 10));
  if (tally.handOvers % every === 0)
    load.say?.(
      `${tally.handOvers}/${load.handOvers} hand-overs, ${crashes}/${load.crashes} crashes, ${violations.length} violations`,
    );
};

/** Holds most callers back until a browser is idle, and kills that one. */
const crashIdle = async ({ parts, ledger, quiet }: Run, crash: NonNullable<StayPlan["crash"]>): Promise<void> => {
  const request = {};
  quiet.add(request);
  try {
    await eventually("an idle browser is killed", async () => {
      const [pod] = await parts.leases.podsIn(parts.pool.id, "idle");
      if (pod === undefined) return false;
      // One that was killed a moment ago may still be counted as idle; it has no process any more.
      return killIn(pod, crash, parts, ledger).then(
        () => true,
        () => false,
      );
    });
  } finally {
    quiet.delete(request);
  }
};

/** One caller after another holder's stay, until the schedule has nothing more. */
const call = async (run: Run, caller: number): Promise<void> => {
  const { schedule, tally, load, quiet, stop } = run;
  for (;;) {
    AbortSignal.any([load.signal, stop.signal]).throwIfAborted();
    if (caller >= quietCallers && quiet.size > 0) {
      await sleep(10);
      continue;
    }
    const plan = schedule.next(tally.handOvers);
    if (!plan) return;
    if (plan.crash?.moment === "idle") await crashIdle(run, plan.crash);
    tally.holders += 1;
    count(tally, plan, await stayOnce({ holder: `h${tally.holders}`, plan }, run.parts, run.ledger));
    report(run);
  }
};

/** When one caller can't go on, all stop before what they work with is taken away. */
const callAll = async (run: Run): Promise<void> => {
  const calls = Array.from({ length: callers }, (_, caller) =>
    call(run, caller).catch((error: unknown) => {
      run.stop.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(calls);
  await Promise.all(calls);
};

/** Everything as before the run: so many idle browsers, so many pods, and no process of any other pod. */
const checkRest = async ({ parts, ledger }: Run): Promise<void> => {
  const missing = (what: string): void => ledger.report({ what, holder: "", pod: "" });
  const { stack, pool, leases } = parts;
  await pool.whenCounts({ acquired: 0, available: size }).catch((error: unknown) => missing(String(error)));
  const idle = new Set(await leases.podsIn(pool.id, "idle"));
  let last = "";
  const isTidy = async (): Promise<boolean> => {
    const { items } = await stack.kube.list(pods, { namespace: "default" });
    const running = await processesOf(`${stack.dataDir}/pods/`);
    const strangers = running.filter(({ commandLine }) => {
      const [, uid] = /\/pods\/([0-9a-f-]{36})/.exec(commandLine) ?? [];
      return uid !== undefined && !idle.has(uid);
    });
    last = [
      `${items.length} pods`,
      ...strangers.map(({ pid, commandLine }) => `process ${pid}: ${commandLine.slice(0, 200)}`),
    ].join(", ");
    return items.length === size && strangers.length === 0;
  };
  await eventually(() => `only the pool's own pods and processes are left (${last})`, isTidy).catch((error: unknown) =>
    missing(String(error)),
  );
};

/** Rejects when it is stopped or can't be carried out; what the service does wrong is in the result. */
export const run = async (load: ChromiumLoad): Promise<ChromiumResult> => {
  const beganMs = performance.now();
  await using parts = await startParts(size);
  const tally: Tally = { handOvers: 0, reused: 0, destroyed: 0, broken: 0, holders: 0 };
  const own: Run = {
    parts,
    ledger: createLedger(),
    schedule: createSchedule(load),
    tally,
    load,
    quiet: new Set(),
    told: 0,
    stop: new AbortController(),
  };
  await callAll(own);
  await checkRest(own);
  const { holders: _, ...counts } = tally;
  return {
    ...counts,
    crashes: own.ledger.kills(),
    violations: own.ledger.violations(),
    seconds: (performance.now() - beganMs) / 1000,
  };
};
