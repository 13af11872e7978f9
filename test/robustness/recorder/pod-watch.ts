/**
 * A watch of all browser pods that shares nothing with the product: its own connection, its own list and watch. When it
 * broke off, it lists again and reports what it missed in between as one change.
 */

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { parse } from "yaml";
import { monotonicMs } from "../history/event-base.ts";
import type { EventOf } from "../history/history.ts";
import type { Recorder } from "./recorder.ts";

type PodWatch = { stop(): Promise<void> };

type PodEvent = EventOf<"pod">;
type Pod = {
  metadata: {
    uid: string;
    name: string;
    resourceVersion: string;
    creationTimestamp: string;
    deletionTimestamp?: string;
    namespace: string;
    labels?: Record<string, string>;
    ownerReferences?: { uid: string; controller?: boolean }[];
  };
  status?: {
    phase?: string;
    reason?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { state?: { terminated?: { message?: string; reason?: string } } }[];
  };
};

const selector = "labelSelector=app.kubernetes.io%2Fname%3Dbrowserpool-browser";
const retryMs = 100;

const endedReason = ({ status }: Pod): string | undefined => {
  if (status?.phase !== "Failed" && status?.phase !== "Succeeded") return undefined;
  const terminated = status.containerStatuses?.[0]?.state?.terminated;
  try {
    return JSON.parse(terminated?.message ?? "").reason;
  } catch {
    return status.reason ?? terminated?.reason ?? "unknown";
  }
};

const eventOf = (change: PodEvent["change"], pod: Pod): PodEvent => {
  const { metadata, status } = pod;
  const reason = endedReason(pod);
  return {
    kind: "pod",
    at: monotonicMs(),
    change,
    browser: metadata.uid,
    pod: metadata.name,
    pool: metadata.labels?.["browserpool.dev/pool"] ?? "",
    phase: status?.phase ?? "Pending",
    ready: status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    createdAt: metadata.creationTimestamp,
    ...(metadata.deletionTimestamp && { deletionAt: metadata.deletionTimestamp }),
    ...(reason !== undefined && { endedReason: reason }),
  };
};

/** A pool's own pod; faults put others beside it that have its label. `namespace`: that of the pools. */
const isOwn = ({ metadata }: Pod, namespace: string): boolean =>
  metadata.namespace === namespace &&
  (metadata.ownerReferences?.some(
    ({ uid, controller }) => controller === true && uid === metadata.labels?.["browserpool.dev/pool"],
  ) ??
    false);

const connect = async (kubeconfigPath: string) => {
  const { clusters, users } = parse(await readFile(kubeconfigPath, "utf8"));
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  const dispatcher = new Agent({ connect: { ca: Buffer.from(ca, "base64") }, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const get = async (path: string, signal: AbortSignal) => {
    const { statusCode, body } = await request(server + path, { dispatcher, headers, signal });
    if (statusCode !== 200) throw new Error(`${statusCode}`);
    return body;
  };
  return { get, close: () => dispatcher.destroy() };
};

export const startPodWatch = async (
  { kubeconfigPath, namespace }: { kubeconfigPath: string; namespace: string },
  recorder: Recorder,
): Promise<PodWatch> => {
  const { get, close } = await connect(kubeconfigPath);
  const stopping = new AbortController();
  const { signal } = stopping;
  const known = new Map<string, Pod>();

  const report = (change: PodEvent["change"], pod: Pod): void => {
    if (!isOwn(pod, namespace)) return;
    if (change === "DELETED") known.delete(pod.metadata.uid);
    else known.set(pod.metadata.uid, pod);
    recorder.write(eventOf(change, pod));
  };
  const list = async (): Promise<string> => {
    const body = await get(`/api/v1/pods?${selector}`, signal);
    const { items, metadata } = (await body.json()) as { items: Pod[]; metadata: { resourceVersion: string } };
    const listed = new Set(items.map((pod) => pod.metadata.uid));
    for (const pod of [...known.values()]) if (!listed.has(pod.metadata.uid)) report("DELETED", pod);
    for (const pod of items) {
      const before = known.get(pod.metadata.uid);
      if (before?.metadata.resourceVersion !== pod.metadata.resourceVersion) report(before ? "MODIFIED" : "ADDED", pod);
    }
    return metadata.resourceVersion;
  };
  const follow = async (version: string): Promise<void> => {
    const body = await get(`/api/v1/pods?${selector}&watch=true&resourceVersion=${version}`, signal);
    const lines = createInterface({ input: body });
    lines.on("error", () => undefined);
    for await (const line of lines) {
      const { type, object } = JSON.parse(line) as { type: PodEvent["change"] | "ERROR"; object: Pod };
      if (type === "ERROR") return;
      report(type, object);
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await list()
        .then(follow)
        .catch(() => undefined);
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      await close();
    },
  };
};
