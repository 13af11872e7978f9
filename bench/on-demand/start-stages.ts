/**
 * Where the time of one `POST /browsers` goes: what the API's spans, the agent's line and the watch of its pod say of a
 * start (docs/tracing.md), put together by the clock of this machine.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentStartStep } from "../../src/core/agent/step-times.ts";
import { podLogsFolder } from "../../src/local/leftovers.ts";
import type { Logger } from "../../src/platform/base/log.ts";
import { keyOf, type Pod } from "../../src/platform/kube/objects.ts";
import { startReflector } from "../../src/platform/kube/reflector.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica, Cluster } from "../../test/support/cluster.ts";
import type { Collector } from "../../test/support/collector.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { Session } from "../../test/support/pool-client.ts";
import { pageAt } from "./usable-page.ts";

/** What ends the stages of a start, in their order. */
export const stages = {
  received: "the API has the request",
  written: "the Browser object is written",
  created: "its pod is there",
  bound: "the pod has a node",
  began: "the agent's process begins",
  loaded: "the agent's first code is loaded",
  spawned: "Chromium's process begins",
  answered: "Chromium answers the agent",
  serving: "the agent serves",
  ready: "the pod is ready",
  granted: "the browser is registered and granted",
  taken: "the agent has taken the lease",
  told: "the caller has the answer",
  usable: "a page has run script",
} as const;

export type Stage = keyof typeof stages;

/** When each stage ended, ms since 1970. */
type Ends = Record<Stage, number>;

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Of the collector's print. Only whole ms are read by `Date`. */
const msOf = (time = ""): number => {
  const [, date, clock, fraction = ""] = /^(\d{4}-\S+) ([\d:]+)(\.\d+)?/.exec(time) ?? [];
  return Date.parse(`${date}T${clock}Z`) + Number(`0${fraction}`) * 1000;
};

const steps: readonly AgentStartStep[] = ["loaded", "setup", "spawned", "answered", "serving"];

/** When each step of the agent's start was over, by its line that the browser is ready. */
const agentEnds = async (
  logFile: string,
): Promise<Pick<Ends, "began" | "loaded" | "spawned" | "answered" | "serving">> => {
  const lines = (await readFile(logFile, "utf8")).split("\n").filter(Boolean);
  const told = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "browser ready");
  const took: { [step in AgentStartStep]?: number } = told?.steps ?? {};
  const ends: Record<string, number> = {};
  let atMs = Date.parse(told?.time) - steps.reduce((sum, step) => sum + (took[step] ?? 0), 0);
  ends.began = atMs;
  for (const step of steps) ends[step] = atMs += took[step] ?? 0;
  return ends as ReturnType<typeof agentEnds> extends Promise<infer Told> ? Told : never;
};

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

export type StartTrace = {
  /** Starts a browser, opens a page, and ends it. Resolves with how long each stage took, ms. */
  start(): Promise<Record<Stage, number>>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** One start at a time. `collector`: gets the spans of the API. */
export const traceStarts = async (
  { kube, dataDir, apiKey }: Pick<Cluster, "kube" | "dataDir" | "apiKey">,
  { api, collector, log }: { api: Pick<ApiReplica, "url" | "call">; collector: Pick<Collector, "spans">; log: Logger },
): Promise<StartTrace> => {
  let seen: { pod?: Pod } & Partial<Ends> = {};
  const onChange = (pod: Pod, change: string): void => {
    if (change === "DELETED" || (seen.pod && seen.pod.metadata.uid !== pod.metadata.uid)) return;
    seen.pod = pod;
    seen.created ??= nowMs();
    if (pod.spec?.nodeName) seen.bound ??= nowMs();
    if (isReady(pod)) seen.ready ??= nowMs();
  };
  const watch = startReflector<Pod>({ kube, type: podType, onChange, log });
  await watch.synced();

  /** Spans come in batches. */
  const spansOf = async (traceId: string) => {
    const find = () => collector.spans().filter((span) => span["Trace ID"] === traceId);
    const names = ["POST /browsers", "acquire", "bind"];
    await eventually("the spans of a start", async () =>
      names.every((name) => find().some((span) => span.Name === name)),
    );
    return names.map((name) => find().findLast((span) => span.Name === name));
  };

  return {
    async start() {
      seen = {};
      const traceId = randomBytes(16).toString("hex");
      const askedMs = nowMs();
      const answer = await fetch(`${api.url}/browsers`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${apiKey}`,
          "content-type": "application/json",
          traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
        },
        body: JSON.stringify({ headless: true }),
      });
      if (answer.status !== 200) throw new Error(`no browser: ${answer.status} ${await answer.text()}`);
      const session = (await answer.json()) as Session;
      const told = nowMs();
      const { leave } = await pageAt(session.cdp_ws_url);
      const usable = nowMs();
      const { pod, ...ofPod } = seen;
      if (!pod) throw new Error("the watch showed no pod");
      const agent = await agentEnds(join(podLogsFolder(dataDir), `${keyOf(pod.metadata).replace("/", "_")}.log`));
      await leave();
      await (await api.call("DELETE", `/browsers/${session.session_id}`)).body?.cancel();
      const [server, acquire, bind] = await spansOf(traceId);
      const ends: Partial<Ends> = {
        ...ofPod,
        ...agent,
        received: msOf(server?.["Start time"]),
        written: msOf(acquire?.["Start time"]),
        granted: msOf(bind?.["Start time"]),
        taken: msOf(bind?.["End time"]),
        told,
        usable,
      };
      let fromMs = askedMs;
      const took = (Object.keys(stages) as Stage[]).map((stage) => {
        const stageMs = (ends[stage] ?? Number.NaN) - fromMs;
        fromMs += stageMs;
        return [stage, stageMs] as const;
      });
      return Object.fromEntries(took) as Record<Stage, number>;
    },
    [Symbol.asyncDispose]: watch.stop,
  };
};
