/**
 * The life of one pod as a process. It goes one way:
 *
 *   starting ──(process runs)──► running ◄──► running, ready
 *      │                            │
 *      │ can't be started,          │ ends by itself, or `end`: SIGTERM or SIGINT, the grace, SIGKILL
 *      │ or `end` comes before      ▼
 *      └─────────────────────────► ended
 *
 * `ended` means that nothing is left: the process, the members of its group, the groups that it recorded (browsers),
 * all else that it started, and the pod's folders are gone. Its object may be deleted only then, so a deleted pod
 * leaves no browser behind.
 */

import type { Logger } from "../../platform/base/log.ts";
import type { Semaphore } from "../../platform/base/semaphore.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import type { PodAddresses } from "./pod-address.ts";
import { cleanPodProcess, type PodProcessOptions, readTermination, startPodProcess } from "./pod-process.ts";
import type { SecretValues } from "./pod-secrets.ts";
import { probeOf, startReadinessProbe } from "./readiness-probe.ts";

/** How to end a process: SIGTERM ends it in order, SIGINT at once; SIGKILL follows after the grace, ms. */
export type EndRequest = { graceMs: number; signal: "SIGTERM" | "SIGINT" };

/** The requests to end a process. The first may come before the process has started; later ones may be more urgent. */
type Ending = {
  /** Aborted by the first request. */
  signal: AbortSignal;
  /** Of several graces the shortest counts, and SIGINT is never taken back. `signal`: SIGTERM by default. */
  request(graceMs: number, signal?: EndRequest["signal"]): void;
  /**
   * Calls `listener` with each request that is more urgent, and at once if there is one already. At most one listener.
   */
  onRequest(listener: (request: EndRequest) => void): void;
};

/** An ending that nobody has asked for yet. */
export const createEnding = (): Ending => {
  const requested = new AbortController();
  let urgent: EndRequest = { graceMs: Number.POSITIVE_INFINITY, signal: "SIGTERM" };
  let notify: (request: EndRequest) => void = () => undefined;
  return {
    signal: requested.signal,
    request(graceMs, signal = urgent.signal) {
      const isMoreUrgent = graceMs < urgent.graceMs || (signal === "SIGINT" && urgent.signal !== "SIGINT");
      if (!isMoreUrgent) return;
      urgent = {
        graceMs: Math.min(graceMs, urgent.graceMs),
        signal: urgent.signal === "SIGINT" ? urgent.signal : signal,
      };
      requested.abort();
      notify(urgent);
    },
    onRequest(listener) {
      notify = listener;
      if (requested.signal.aborted) listener(urgent);
    },
  };
};

export type PodRunState =
  | { phase: "starting" }
  | { phase: "running"; ready: boolean; podIp: string; startedAt: string }
  | ({ phase: "ended"; startedAt: string; finishedAt: string } & Outcome);

/** `message`: the termination message of the process, or why there was none. */
type Outcome = { exitCode: number; message: string; podIp?: string };

export type PodRun = {
  state(): PodRunState;
  /**
   * Ends the process without waiting for it: `onChange` is called when it has ended. Of two graces, ms, the shorter one
   * counts. `signal`: SIGTERM by default, after which the agent may serve its lease on; after SIGINT it ends at once.
   */
  end: Ending["request"];
  /** Resolves in the state `ended`. Never rejects. */
  ended: Promise<void>;
};

export type PodRunOptions = PodProcessOptions & {
  addresses: PodAddresses;
  starts: Semaphore;
  /** Reads what the pod's variables take from Secrets. */
  readSecretValues(pod: Pod): Promise<SecretValues>;
  log: Logger;
  /** Called after every change of the state. */
  onChange: () => void;
};

/** The exit code by which container runtimes report a container that could not be started. */
const notStartedExitCode = 128;

/**
 * A start that is not ready lets the next one start after this time, ms: a browser that hangs must not delay the
 * others.
 */
const longestStartMs = 10_000;

const now = (): string => new Date().toISOString();

type Running = Extract<PodRunState, { phase: "running" }>;
type Serving = { pod: Pod; podIp: string; ending: Ending; onRunning: (state: Running) => void };

/**
 * Starts the process and probes it until it has ended; resolves with its exit code, rejects when it can't be started.
 */
const serve = async ({ pod, podIp, ending, onRunning }: Serving, options: PodRunOptions): Promise<number> => {
  const secretValues = await options.readSecretValues(pod);
  const child = await startPodProcess(pod, { podIp, secretValues }, options);
  ending.onRequest(({ graceMs, signal }) => void child.stop(graceMs, signal));
  const startedAt = now();
  const container = pod.spec?.containers[0];
  const probe = container && probeOf(container, podIp);
  const setReady = (ready: boolean): void => onRunning({ phase: "running", ready, podIp, startedAt });
  setReady(!probe);
  const probing = probe && startReadinessProbe(probe, setReady);
  const { exitCode } = await child.ended;
  probing?.stop();
  return exitCode;
};

/** Starts a pod at once. `pod`: bound to this node and supported. */
export const startPodRun = (pod: Pod, options: PodRunOptions): PodRun => {
  const { dataDir, addresses, starts, log, onChange } = options;
  const ending = createEnding();
  let state: PodRunState = { phase: "starting" };
  const become = (next: PodRunState): void => {
    state = next;
    onChange();
  };
  const live = async (mayStartNext: () => void): Promise<Outcome> => {
    const podIp = await addresses.take(pod.spec?.containers[0]?.ports?.[0]?.containerPort ?? 0);
    const onRunning = (running: Running): void => {
      if (running.ready) mayStartNext();
      become(running);
    };
    try {
      const exitCode = await serve({ pod, podIp, ending, onRunning }, options);
      return { exitCode, message: await readTermination(dataDir, pod), podIp };
    } finally {
      await cleanPodProcess(dataDir, pod);
      addresses.release(podIp);
    }
  };
  const liveInTurn = async (): Promise<Outcome> => {
    const release = await starts.acquire(ending.signal).catch(() => undefined);
    if (!release) return { exitCode: notStartedExitCode, message: "ended before its process was started" };
    const deadline = setTimeout(release, longestStartMs);
    try {
      return await live(release);
    } catch (err) {
      log.error({ err, pod: pod.metadata.name }, "a pod's process failed");
      return { exitCode: notStartedExitCode, message: err instanceof Error ? err.message : String(err) };
    } finally {
      clearTimeout(deadline);
      release();
    }
  };
  const run = async (): Promise<void> => {
    const createdAt = now();
    const outcome = await liveInTurn();
    const startedAt = state.phase === "running" ? state.startedAt : createdAt;
    become({ phase: "ended", ...outcome, startedAt, finishedAt: now() });
  };
  return { state: () => state, end: ending.request, ended: run() };
};
