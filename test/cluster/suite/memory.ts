/** Figures of docs/sizing.md: what the kubelets say of browsers and replicas. */
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import { evaluate, openTab, withCdp } from "../../support/raw-cdp.ts";
import { type Lane, type Phase, systemNamespace } from "../lane.ts";
import { fullPool, type TestPool } from "./pools.ts";
import { until } from "./until.ts";

const size = 3;

/** A page of some weight: 5,000 elements, and 20 MB of script objects. */
const heavyPage =
  "data:text/html,<script>for(let i=0;i<5000;i++)document.write('<p>'+i);window.kept=Array.from({length:20},()=>new Uint8Array(1e6).fill(1))</script>";

type PodStats = {
  podRef: { name: string; namespace: string };
  cpu?: { usageCoreNanoSeconds?: number };
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

/** Means over these pods. */
const figures = async (lane: Lane, names: string[]): Promise<string> => {
  const sinceMs = Date.now();
  const pods = await until("new figures", () => freshStats(lane, names, sinceMs), { signal: lane.signal });
  const workingSet = meanOf(pods, ({ memory }) => memory?.workingSetBytes, 2 ** 20);
  const anonymous = meanOf(pods, ({ memory }) => memory?.rssBytes, 2 ** 20);
  const processor = meanOf(pods, ({ cpu }) => cpu?.usageCoreNanoSeconds, 1e9);
  const text = `working set ${workingSet.toFixed(0)} MiB, ${anonymous.toFixed(0)} of it anonymous`;
  return `${text}; ${processor.toFixed(1)} s of processor since the start`;
};

const ofPool = async (lane: Lane, pool: TestPool): Promise<string> =>
  figures(
    lane,
    (await pool.pods()).map(({ metadata }) => metadata.name),
  );

/** Opens the page in every browser of the pool, and returns what they take while they show it. */
const withPages = async (lane: Lane, pool: TestPool): Promise<string> => {
  const sessions = [];
  for (let i = 0; i < size; i++) sessions.push(await pool.acquire());
  for (const { cdp_ws_url } of sessions)
    await withCdp(cdp_ws_url, async (cdp) => {
      await openTab(cdp, heavyPage);
      await evaluate(cdp, "1");
    });
  const text = await ofPool(lane, pool);
  for (const session of sessions) await pool.release(session);
  return text;
};

export const memory: Phase = {
  name: "memory",
  summary: "memory and processor time of browsers and replicas, for docs/sizing.md",
  async run(lane, check) {
    for (const headless of [true, false]) {
      const kind = headless ? "headless" : "headful";
      await using pool = await fullPool(lane, `memory-${kind}`, size, { headless });
      await check(`a ${kind} browser, idle`, () => ofPool(lane, pool));
      await check(`a ${kind} browser with a page`, () => withPages(lane, pool));
    }
    for (const component of ["api", "operator", "redis"])
      await check(`a replica of ${component}`, async () => {
        const selector = ["--selector", `app.kubernetes.io/component=${component}`, "--output", "name"];
        const names = (await lane.kubectl("get", "pods", "--namespace", systemNamespace, ...selector))
          .trim()
          .split("\n");
        return figures(
          lane,
          names.map((name) => name.replace("pod/", "")),
        );
      });
  },
};
