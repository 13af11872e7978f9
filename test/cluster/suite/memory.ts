/**
 * Figures of docs/sizing.md: what the kubelets say of browsers and replicas, and whether the chart's requests cover it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../../../scripts/generated-file.ts";
import { quantityOf } from "../../../src/platform/kube/quantity.ts";
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import { evaluate, openTab, withCdp } from "../../support/raw-cdp.ts";
import { type Lane, type Phase, systemNamespace } from "../lane.ts";
import { fullPool, type TestPool } from "./pools.ts";
import { until } from "./until.ts";

const size = 3;

/** At rest the processor is used in short bursts. */
const windowMs = 30_000;

/** A page of some weight: 5,000 elements, and 20 MB of script objects. */
const heavyPage =
  "data:text/html,<script>for(let i=0;i<5000;i++)document.write('<p>'+i);window.kept=Array.from({length:20},()=>new Uint8Array(1e6).fill(1))</script>";

type PodStats = {
  podRef: { name: string; namespace: string };
  cpu?: { time?: string; usageCoreNanoSeconds?: number };
  /** `rssBytes`: without pages of files, which the first process that reads them is charged for. */
  memory?: { time?: string; workingSetBytes?: number; rssBytes?: number };
};

/** The newest figures of these pods, all taken after `sinceMs`; undefined while some are older. */
const freshStats = async (lane: Lane, names: string[], sinceMs: number): Promise<PodStats[] | undefined> => {
  const all: PodStats[] = [];
  for (const { metadata } of (await lane.kube.list(nodes)).items) {
    const summary = await lane.kubectl("get", "--raw", `/api/v1/nodes/${metadata.name}/proxy/stats/summary`);
    all.push(...(JSON.parse(summary) as { pods: PodStats[] }).pods);
  }
  const own = all.filter(({ podRef }) => names.includes(podRef.name));
  const isFresh = ({ memory }: PodStats): boolean => Date.parse(memory?.time ?? "") > sinceMs;
  return own.length === names.length && own.every(isFresh) ? own : undefined;
};

const meanOf = (pods: PodStats[], of: (pod: PodStats) => number | undefined, unit: number): number =>
  pods.reduce((sum, pod) => sum + (of(pod) ?? 0), 0) / pods.length / unit;

/** Means over pods. `workingSet`: MiB. */
type Figures = { workingSet: number; text: string };

/** Thousandths of a processor between two times; undefined while the kubelet has not looked again. */
const millicoresOf = (before: PodStats | undefined, after: PodStats): number | undefined => {
  const ms = Date.parse(after.cpu?.time ?? "") - Date.parse(before?.cpu?.time ?? "");
  const used = (after.cpu?.usageCoreNanoSeconds ?? Number.NaN) - (before?.cpu?.usageCoreNanoSeconds ?? Number.NaN);
  return ms > 0 ? used / 1000 / ms : undefined;
};

/** Means over these pods, of which nobody asks for anything meanwhile. */
const figures = async (lane: Lane, names: string[]): Promise<Figures> => {
  const { signal } = lane;
  const nowMs = Date.now();
  const before = await until("new figures", () => freshStats(lane, names, nowMs), { signal });
  const sinceMs = Date.now() + windowMs;
  const limitMs = windowMs + 60_000;
  const pods = await until("figures after a while", () => freshStats(lane, names, sinceMs), { signal, limitMs });
  const ofPod = ({ podRef }: PodStats) => before.find((pod) => pod.podRef.name === podRef.name);
  const workingSet = meanOf(pods, ({ memory }) => memory?.workingSetBytes, 2 ** 20);
  const anonymous = meanOf(pods, ({ memory }) => memory?.rssBytes, 2 ** 20);
  const started = meanOf(pods, ({ cpu }) => cpu?.usageCoreNanoSeconds, 1e9);
  const millicores = meanOf(pods, (pod) => millicoresOf(ofPod(pod), pod), 1);
  const memory = `working set ${workingSet.toFixed(0)} MiB, ${anonymous.toFixed(0)} of it anonymous`;
  const text = `${memory}; ${millicores.toFixed(1)}m of processor at rest, ${started.toFixed(1)} s since the start`;
  return { workingSet, text };
};

const ofPool = async (lane: Lane, pool: TestPool): Promise<Figures> =>
  figures(
    lane,
    (await pool.pods()).map(({ metadata }) => metadata.name),
  );

/** What a browser asks for by the chart's own values, MiB; those of these tests are smaller, so that many fit. */
const requestOf = async (kind: "headless" | "headful"): Promise<number> => {
  const { browsers } = parse(await readFile(join(root, "charts/browserpool/values.yaml"), "utf8")) as {
    browsers: { resources: { requests: { memory: string } }; memory: { requests: Record<string, string> } };
  };
  const { resources, memory } = browsers;
  const request = kind === "headless" ? resources.requests.memory : memory.requests["8GiB"];
  return (quantityOf(request ?? "") ?? 0) / 2 ** 20;
};

/** Waits until the nodes have given these browsers, which are in use, what they ask for then of the processor. */
const whenResized = async (lane: Lane, pool: TestPool): Promise<string> => {
  const given = async (): Promise<string | false> => {
    const amounts = (await pool.pods()).map(({ metadata, status }) => ({
      wanted: metadata.annotations?.["browserpool.dev/in-use-cpu"],
      allocated: status?.containerStatuses?.[0]?.allocatedResources?.cpu,
    }));
    const isDone = amounts.every(({ wanted, allocated }) => wanted !== undefined && wanted === allocated);
    return isDone && `each has ${amounts[0]?.allocated}`;
  };
  return until("the nodes have resized the pods", given, { signal: lane.signal });
};

/** Opens the page in every browser of the pool, and does this while they show it. */
const withPages = async (pool: TestPool, use: () => Promise<void>): Promise<void> => {
  const sessions = [];
  for (let i = 0; i < size; i++) sessions.push(await pool.acquire());
  for (const { cdp_ws_url } of sessions)
    await withCdp(cdp_ws_url, async (cdp) => {
      await openTab(cdp, heavyPage);
      await evaluate(cdp, "1");
    });
  await use();
  for (const session of sessions) await pool.release(session);
};

export const memory: Phase = {
  name: "memory",
  summary: "memory and processor time of browsers and replicas, for docs/sizing.md",
  async run(lane, check) {
    const resizesPods = (await lane.kube.resources("v1")).some(({ name }) => name === "pods/resize");
    for (const kind of ["headless", "headful"] as const) {
      await using pool = await fullPool(lane, `memory-${kind}`, size, { headless: kind === "headless" });
      await check(`a ${kind} browser, idle`, async () => (await ofPool(lane, pool)).text);
      await withPages(pool, async () => {
        await check(`a ${kind} browser with a page, which its request covers`, async () => {
          const [{ workingSet, text }, request] = [await ofPool(lane, pool), await requestOf(kind)];
          if (workingSet > request) throw new Error(`${text}: the chart asks for ${request} MiB only`);
          return `${text}; requested ${request} MiB`;
        });
        if (resizesPods)
          await check(`a ${kind} browser in use asks for more of the processor`, () => whenResized(lane, pool));
      });
    }
    for (const component of ["api", "operator", "redis"])
      await check(`a replica of ${component}`, async () => {
        const selector = ["--selector", `app.kubernetes.io/component=${component}`, "--output", "name"];
        const names = (await lane.kubectl("get", "pods", "--namespace", systemNamespace, ...selector))
          .trim()
          .split("\n");
        const { text } = await figures(
          lane,
          names.map((name) => name.replace("pod/", "")),
        );
        return text;
      });
  },
};
