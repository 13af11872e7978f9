/**
 * The simulated node as a process: the program that `node-process.ts` starts and controls over its IPC channel. Ends
 * when that channel does. Its log of agent events is a JSON line each in the file of its options.
 */

import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube } from "../../../src/platform/kube/client.ts";
import { openEventFile } from "./event-file.ts";
import type { NodeCall, NodeProcessOptions, NodeReply } from "./node-process.ts";
import { startSimulatedNode } from "./simulated-node.ts";

const reply = (message: NodeReply): void => void process.send?.(message);

const options: NodeProcessOptions = JSON.parse(process.argv[2] ?? "{}");
const kube = connectKube({ kubeconfigPath: options.kubeconfigPath });
const events = options.eventsFile === undefined ? undefined : openEventFile(options.eventsFile);
const node = await startSimulatedNode({
  kube,
  ...options,
  observe: (event) => events?.add(event),
  log: createLogger("warn", "simulated-node"),
});

const stop = async (): Promise<void> => {
  await node.stop();
  await kube.close();
  await events?.close();
};
const answer = async ({ method, args }: NodeCall): Promise<unknown> => {
  if (method === "stop") return stop();
  if (method === "flush") return events?.flush();
  if (method === "memory") {
    gc?.();
    return process.memoryUsage();
  }
  // The types of the arguments are those of the same method, checked where it was called.
  return (node[method] as (...given: unknown[]) => Promise<unknown>)(...args);
};
process.on("message", (call: NodeCall) => {
  answer(call)
    .then((result) => reply({ id: call.id, result }))
    .catch((error: unknown) => reply({ id: call.id, error: String(error) }))
    .finally(() => call.method === "stop" && process.disconnect());
});
// Whoever started this is gone, or has what it wanted.
process.on("disconnect", () => process.exit());
reply({ id: 0 });
