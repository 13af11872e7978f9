/** Figures of docs/sizing.md: what the kubelets say of the memory of browsers and replicas. */
import { nodes } from "../../../src/kube/resource-type.ts";
import { evaluate, openTab, withCdp } from "../../support/raw-cdp.ts";
import { type Lane, type Phase, projectNamespace, systemNamespace } from "../lane.ts";
import { fullPool, type TestPool } from "./pools.ts";
import { until } from "./until.ts";

const size = 3;

/** A page of some weight: 5,000 elements, and 20 MB of script objects. */
const heavyPage =
  "data:text/html,<script>for(let i=0;i<5000;i++)document.write('<p>'+i);window.kept=Array.from({length:20},()=>new Uint8Array(1e6).fill(1))</script>";

type Summary = {
  pods: { podRef: { name: string; namespace: string }; memory?: { workingSetBytes?: number; time?: string } }[];
};

type Sample = { workingSetBytes: number; timeMs: number };

/** The newest sample of each pod in a namespace, by the pod's name. */
const samples = async ({ kube, kubectl }: Lane, namespace: string): Promise<Map<string, Sample>> => {
  const found = new Map<string, Sample>();
  for (const { metadata } of (await kube.list(nodes)).items) {
    const summary = JSON.parse(
      await kubectl("get", "--raw", `/api/v1/nodes/${metadata.name}/proxy/stats/summary`),
    ) as Summary;
    for (const { podRef, memory } of summary.pods)
      if (podRef.namespace === namespace)
        found.set(podRef.name, {
          workingSetBytes: memory?.workingSetBytes ?? 0,
          timeMs: Date.parse(memory?.time ?? ""),
        });
  }
  return found;
};

/** Working sets of these pods, MiB, from samples that were taken after now. */
const workingSets = async (lane: Lane, namespace: string, names: string[]): Promise<number[]> => {
  const nowMs = Date.now();
  const fresh = async () => {
    const all = await samples(lane, namespace);
    const own = names.flatMap((name) => all.get(name) ?? []);
    return own.length === names.length && own.every(({ timeMs }) => timeMs > nowMs) && own;
  };
  const found = await until("the kubelets have new samples", fresh, { signal: lane.signal });
  return found.map(({ workingSetBytes }) => Math.round(workingSetBytes / 2 ** 20));
};

const mean = (values: number[]): number => Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);

const textOf = (values: number[]): string => `${mean(values)} MiB (${values.join(", ")})`;

const ofPool = async (lane: Lane, pool: TestPool): Promise<string> =>
  textOf(
    await workingSets(
      lane,
      projectNamespace,
      (await pool.pods()).map(({ metadata }) => metadata.name),
    ),
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
  summary: "memory of browsers and replicas, for docs/sizing.md",
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
        return textOf(
          await workingSets(
            lane,
            systemNamespace,
            names.map((name) => name.replace("pod/", "")),
          ),
        );
      });
  },
};
