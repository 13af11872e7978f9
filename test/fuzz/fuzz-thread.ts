/**
 * The thread of one target: makes its cases and checks them, one after the other, and tells the main thread
 * (run-target.ts).
 */
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import fc from "fast-check";
import { batchCases, batchSeed, inputOf } from "./cases.ts";
import { type Finding, type FindingKind, inputText } from "./finding.ts";
import type { Order, Progress, Told } from "./order.ts";
import { type AnyTarget, Broken, type OpenTarget } from "./target.ts";

/** Most processor time of one case, ms. */
const maxCaseMs = 1000;

/** Most memory of the process, bytes; the heap has a limit of its own. */
const maxMemoryBytes = 3 * 1024 ** 3;

/** Time to make the input of one finding smaller, ms. */
const shrinkMs = 20_000;

/** Findings that are told of one run; what is like one of them is told once. */
const maxFindings = 20;

const order = workerData as Order;
const running = new Int32Array(order.running);
const tell = (told: Told): void => parentPort?.postMessage(told);

const strays: unknown[] = [];
process.on("uncaughtException", (error) => strays.push(error));
process.on("unhandledRejection", (error) => strays.push(error));

/** What an error is about, without what differs from case to case. */
const signatureOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error).slice(0, 100);
  const place = error.stack?.split("\n").find((line) => /\/(src|node_modules)\//.test(line)) ?? "";
  const message = error.message.split("\n", 1)[0] ?? "";
  return `${error.name} ${message.replace(/\d+|"[^"]*"/g, "…").slice(0, 80)} ${place.trim()}`;
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Throws what came out of the cases before, if anything did. */
const throwStray = (): void => {
  const [stray] = strays.splice(0);
  if (stray === undefined) return;
  const text = stray instanceof Error ? stray.message : String(stray);
  const error = new Broken(`nobody caught: ${text}`, { cause: stray });
  if (stray instanceof Error) error.stack = `${error.message}\n${stray.stack}`;
  throw error;
};

/**
 * Throws for a case that takes the processor for too long. The clock goes on while others have the processor: it is
 * measured again.
 */
const throwSlow = async (open: OpenTarget<unknown>, input: unknown): Promise<void> => {
  const before = process.threadCpuUsage();
  await open.check(input);
  const { user, system } = process.threadCpuUsage(before);
  const ms = Math.round((user + system) / 1000);
  if (ms > maxCaseMs) throw new Broken(`one case took ${ms} ms of the processor`);
};

const throwLarge = (): void => {
  const bytes = process.memoryUsage.rss();
  if (bytes > maxMemoryBytes) throw new Broken(`the process has ${Math.round(bytes / 1024 ** 2)} MiB`);
};

const run = async ({ inputs }: AnyTarget, open: OpenTarget<unknown>): Promise<Progress> => {
  const known = new Set<string>();
  const progress: Progress = { cases: 0, longestMs: 0 };
  const note = (number: number, error: unknown, input: string, kind: FindingKind = "broke"): void => {
    const finding: Finding = { target: order.target, seed: order.seed, number, kind, error: inspect(error), input };
    known.add(signatureOf(error));
    tell({ finding });
  };

  const checkOne = async (input: unknown): Promise<void> => {
    const startMs = performance.now();
    await open.check(input);
    const ms = performance.now() - startMs;
    if (ms > progress.longestMs) progress.longestMs = ms;
    if (ms > maxCaseMs) await throwSlow(open, input);
    if (strays.length > 0) throwStray();
  };
  /** Whatever is known already is no finding again. */
  const checkNew = async (input: unknown): Promise<void> => {
    try {
      await checkOne(input);
    } catch (error) {
      if (!known.has(signatureOf(error))) throw error;
    }
  };

  const runBatch = async (batch: number, cases: number): Promise<void> => {
    const first = batch * batchCases;
    let made = 0;
    let shrunkUntilMs: number | undefined;
    const property = fc.asyncProperty(inputs, async (input) => {
      if (shrunkUntilMs === undefined) {
        Atomics.store(running, 0, first + made);
        made += 1;
      } else if (performance.now() > shrunkUntilMs) return;
      try {
        await checkNew(input);
      } catch (error) {
        shrunkUntilMs ??= performance.now() + shrinkMs;
        throw error;
      }
    });
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      seed: batchSeed(order.seed, batch),
      numRuns: cases,
    });
    progress.cases += made;
    if (failed) note(first + made - 1, errorInstance, inputText(counterexample?.[0]));
  };
  /** What shows itself only after some cases belongs to none of them alone. */
  const lookAfter = async (): Promise<void> => {
    await nextTurn();
    const number = Atomics.load(running, 0);
    try {
      throwStray();
      throwLarge();
      await open.isWell?.();
    } catch (error) {
      if (!known.has(signatureOf(error))) note(number, error, "of this case or one before it", "not well afterwards");
    }
  };

  if (order.only !== undefined) {
    const input = inputOf(inputs, order.seed, order.only);
    Atomics.store(running, 0, order.only);
    await checkOne(input).catch((error: unknown) => note(order.only ?? 0, error, inputText(input)));
    await lookAfter();
    return { ...progress, cases: 1 };
  }
  const endMs = performance.now() + order.seconds * 1000;
  let toldMs = performance.now();
  for (let batch = 0; batch * batchCases < order.cases && known.size < maxFindings; batch += 1) {
    if (performance.now() > endMs) break;
    await runBatch(batch, Math.min(batchCases, order.cases - batch * batchCases));
    await lookAfter();
    if (performance.now() - toldMs < 5000) continue;
    toldMs = performance.now();
    tell({ progress: { ...progress } });
  }
  return progress;
};

const { target } = (await import(order.module)) as { target: AnyTarget };
const open = await target.open();
const done = await run(target, open);
await open.close?.();
tell({ done });
parentPort?.close();
