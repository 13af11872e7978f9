import { fork } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { SimulatedNode, SimulatedNodeOptions } from "./simulated-node.ts";

export type NodeProcessOptions = Pick<SimulatedNodeOptions, "namespace" | "nodeName" | "starts" | "seed" | "ipv6"> & {
  kubeconfigPath: string;
  /** Where the agents' events go, a JSON line each, complete after `stop`; left out, nowhere. */
  eventsFile?: string;
};

export type NodeCall = { id: number; method: keyof SimulatedNode | "memory" | "flush"; args: unknown[] };
export type NodeReply = { id: number; result?: unknown; error?: string };

/** A simulated node in a process of its own. */
export type NodeProcess = SimulatedNode & {
  pid: number;
  /** Resolves when all that was told until now is in the file of events. */
  flush(): Promise<void>;
  /** Of the process after its garbage is collected, bytes. */
  memory(): Promise<NodeJS.MemoryUsage>;
};

/** Of the node's own process, beside what every simulated node has. */
type NodeProcessSettings = {
  /** Options of its Node. */
  args?: string[];
  env?: Record<string, string>;
  /** Takes what it logs; left out, this process' stderr does. */
  logPath?: string;
};

/**
 * Resolves when the node is registered; rejects when its process ends before. The process ends with this one at the
 * latest.
 */
export const startNodeProcess = async (
  options: NodeProcessOptions,
  { args = [], env = {}, logPath }: NodeProcessSettings = {},
): Promise<NodeProcess> => {
  const { PATH = "" } = process.env;
  const log = logPath === undefined ? undefined : await open(logPath, "a", 0o600);
  const child = fork(join(import.meta.dirname, "main.ts"), [JSON.stringify(options)], {
    env: { PATH, ...env },
    execArgv: ["--expose-gc", ...args],
    stdio: ["ignore", log?.fd ?? "inherit", log?.fd ?? "inherit", "ipc"],
    // In a process group of its own: a terminal's Ctrl-C reaches whoever started this, which ends it in order.
    detached: true,
  });
  await log?.close();
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const expect = (id: number): Promise<unknown> => {
    const reply = Promise.withResolvers<unknown>();
    pending.set(id, reply);
    return reply.promise;
  };
  const exited = once(child, "exit").then(([code, signal]) => {
    for (const { reject } of pending.values()) reject(new Error(`the simulated node ended: ${code ?? signal}`));
  });
  child.on("message", ({ id, result, error }: NodeReply) => {
    const reply = pending.get(id);
    pending.delete(id);
    if (error === undefined) reply?.resolve(result);
    else reply?.reject(new Error(error));
  });
  let lastId = 0;
  const call =
    <Method extends NodeCall["method"]>(method: Method) =>
    async (...args: Parameters<NodeProcess[Method]>): Promise<Awaited<ReturnType<NodeProcess[Method]>>> => {
      const id = ++lastId;
      child.send({ id, method, args } satisfies NodeCall);
      return (await expect(id)) as Awaited<ReturnType<NodeProcess[Method]>>;
    };
  await expect(0);
  return {
    pid: child.pid ?? 0,
    pods: call("pods"),
    turn: call("turn"),
    happen: call("happen"),
    starts: call("starts"),
    say: call("say"),
    captured: call("captured"),
    memory: call("memory"),
    flush: call("flush"),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await call("stop")();
      await exited;
    },
  };
};
