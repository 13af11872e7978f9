/**
 * The life of one pod of a simulated node. To the node it is what the life of a process is (pod-run.ts):
 *
 *   starting ──(delay)──► running, ready ◄──► running ──► ended
 *
 * It ends as the real agent's process does: in order when it is told to and its lease is over (a stopped one, or one in
 * use, only after its grace, killed), with its last word when its browser dies or its lease is idle, without one when
 * it is killed or put out.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { readAgentKey } from "../../../src/core/protocol/agent-key.ts";
import { podEnvironment } from "../../../src/local/kubelet/pod-process.ts";
import { createEnding, type EndRequest, type PodRun, type PodRunState } from "../../../src/local/kubelet/pod-run.ts";
import type { SecretValues } from "../../../src/local/kubelet/pod-secrets.ts";
import { probeOf } from "../../../src/local/kubelet/readiness-probe.ts";
import type { Logger } from "../../../src/platform/base/log.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import type { Addresses } from "./addresses.ts";
import { type AgentEnd, crashed, evicted, idle, killed, lastWord, stopped, tooOld } from "./agent-end.ts";
import { type AgentEvent, speakerOf } from "./agent-event.ts";
import type { DevTools } from "./devtools.ts";
import { type SimulatedAgent, startSimulatedAgent } from "./simulated-agent.ts";
import type { Accident, Switches } from "./switches.ts";

type SimulatedRunOptions = {
  addresses: Addresses;
  devTools: DevTools;
  observe: (event: AgentEvent) => void;
  /** Reads what the pod's variables take from Secrets. */
  readSecretValues: (pod: Pod) => Promise<SecretValues>;
  /** How this start goes. */
  start: { delayMs: number; fails: boolean };
  /** Writes that the pod was put out. */
  reportEvicted: (pod: Pod) => Promise<void>;
  onChange: () => void;
  log: Logger;
};

export type SimulatedRun = PodRun & {
  pod: Pod;
  /** Undefined before the agent listens. */
  agent(): SimulatedAgent | undefined;
  turn(switches: Switches): Promise<void>;
  happen(accident: Accident): Promise<void>;
};

/** All pods of an installation carry the same key; reading it takes longer than a bind. */
const keys = new Map<string, KeyObject>();
const publicKeyOf = (text: string): KeyObject => {
  const key = keys.get(text) ?? createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
  keys.set(text, key);
  return key;
};

/** An address may be another program's by chance. */
const addressTries = 20;

type ListenOptions = Pick<SimulatedRunOptions, "addresses" | "devTools" | "readSecretValues" | "log"> & {
  say: ReturnType<typeof speakerOf>;
  onOver: (why: "timeout" | "max_lifetime") => void;
};

const listen = async (
  pod: Pod,
  { addresses, readSecretValues, ...options }: ListenOptions,
): Promise<{ agent: SimulatedAgent; podIp: string }> => {
  const port = pod.spec?.containers[0]?.ports?.[0]?.containerPort ?? 0;
  const secretValues = await readSecretValues(pod);
  for (let tries = 1; ; tries++) {
    const podIp = addresses.take();
    const { env } = podEnvironment(pod, podIp, secretValues);
    const publicKey = publicKeyOf(env.BROWSERPOOL_AGENT_PUBLIC_KEY ?? "");
    const agentKey = readAgentKey(env.BROWSERPOOL_AGENT_KEY ?? "");
    if (!agentKey) throw new Error(`${pod.metadata.name} has no agent's key`);
    try {
      const uid = pod.metadata.uid ?? "";
      return {
        agent: await startSimulatedAgent({ ...options, uid, address: podIp, port, publicKey, agentKey }),
        podIp,
      };
    } catch (error) {
      addresses.release(podIp);
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || tries === addressTries) throw error;
    }
  }
};

/** Begins at once; the pod is bound to the node and supported by it. */
export const startSimulatedRun = (pod: Pod, options: SimulatedRunOptions): SimulatedRun => {
  const { addresses, devTools, readSecretValues, observe, start, reportEvicted, onChange, log } = options;
  const { uid = "", name } = pod.metadata;
  const say = speakerOf({ uid, name }, observe);
  const ending = createEnding();
  const over = Promise.withResolvers<AgentEnd>();
  const startedAt = new Date().toISOString();
  let state: PodRunState = { phase: "starting" };
  let agent: SimulatedAgent | undefined;
  let switches: Switches = {};
  let probing: NodeJS.Timeout | undefined;
  let killing: NodeJS.Timeout | undefined;
  /** What it does about the request that it ends, as soon as it runs. */
  let heed: (() => Promise<void>) | undefined;

  const become = (next: PodRunState): void => {
    state = next;
    onChange();
  };
  /** The readiness probe is not sent: its answers are known, and when it would give up too. */
  const probe = (): void => {
    clearTimeout(probing);
    if (state.phase !== "running") return;
    const running = state;
    const ready = !switches.dead && !switches.refusing && !switches.unhealthy;
    const container = pod.spec?.containers[0];
    const { periodMs = 0, failures = 1 } = (container && probeOf(container, running.podIp)) ?? {};
    if (ready !== running.ready)
      probing = setTimeout(() => become({ ...running, ready }), ready ? periodMs : periodMs * failures);
  };
  const obey = ({ graceMs, signal }: EndRequest): void => {
    clearTimeout(killing);
    killing = setTimeout(() => over.resolve(killed), graceMs);
    const isUrgent = signal === "SIGINT" || heed !== undefined;
    heed = async () => {
      if (!isUrgent) await agent?.stop();
      over.resolve(stopped);
    };
    if (!switches.dead) void heed();
  };
  const live = async (): Promise<AgentEnd & { podIp?: string }> => {
    await sleep(start.delayMs, undefined, { signal: ending.signal }).catch(() => undefined);
    if (ending.signal.aborted) return stopped;
    if (start.fails) return lastWord("start_failed", "the browser did not start");
    const listening = await listen(pod, {
      addresses,
      devTools,
      readSecretValues,
      say,
      onOver: (why) => over.resolve(why === "timeout" ? idle : tooOld),
      log,
    });
    agent = listening.agent;
    const { podIp } = listening;
    try {
      await agent.turn(switches);
      become({ phase: "running", ready: true, podIp, startedAt });
      probe();
      ending.onRequest(obey);
      return { ...(await over.promise), podIp };
    } finally {
      agent.close();
      addresses.release(podIp);
    }
  };
  const run = async (): Promise<void> => {
    const { code, ...outcome } = await live().catch((err: unknown) => {
      log.error({ err, pod: name }, "a simulated agent failed");
      return lastWord("start_failed", err instanceof Error ? err.message : String(err));
    });
    clearTimeout(probing);
    clearTimeout(killing);
    say({ what: "exit", code });
    // Before the node says that it has ended, which has no place for the reason.
    if (code === "evicted") await reportEvicted(pod).catch((err: unknown) => log.warn({ err }, "not reported"));
    become({ phase: "ended", ...outcome, startedAt, finishedAt: new Date().toISOString() });
  };
  const accidents: Record<Accident, () => unknown> = {
    crash: () => over.resolve(crashed),
    "crash-agent": () => over.resolve(killed),
    evict: () => over.resolve(evicted),
    forget: () => agent?.forget(),
  };
  return {
    pod,
    state: () => state,
    end: ending.request,
    ended: run(),
    agent: () => agent,
    async turn(next) {
      switches = next;
      await agent?.turn(next);
      probe();
      // A stopped process that goes on hears that it was told to end.
      if (!next.dead) void heed?.();
    },
    happen: async (accident) => void (await accidents[accident]()),
  };
};
