/**
 * What a browser's pod reaches. Probes run in the pod itself, as code that has broken out of a page would. They are done twice:
 * with the policies, and without them, where each must succeed: a probe that could not succeed would prove nothing.
 */
import type { KubeObject, Pod } from "../../../src/kube/objects.ts";
import type { ResourceType } from "../../../src/kube/resource-type.ts";
import { withCdp } from "../../support/raw-cdp.ts";
import { type Lane, type Phase, projectNamespace, systemNamespace } from "../lane.ts";
import { fullPool } from "./pools.ts";
import { type StandIn, standIns } from "./stand-ins.ts";
import { systemPod } from "./system-pods.ts";

const networkPolicies: ResourceType<KubeObject> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

type Target = { what: string; host: string; port: number };

/** Opens a connection to each target, all at once, and prints what came of it, as JSON. A policy may drop or reject. */
const probeScript = `
const { connect } = require("node:net");
const targets = JSON.parse(process.argv[1]);
const probe = ({ host, port }) => new Promise((resolve) => {
  const socket = connect({ host, port, timeout: 3000 });
  const end = (outcome) => { socket.destroy(); resolve(outcome); };
  socket.on("connect", () => end("connected")).on("timeout", () => end("no answer")).on("error", (error) => end(error.code));
});
Promise.all(targets.map(probe)).then((outcomes) => console.log(JSON.stringify(outcomes)));
`;

/** What happened to each target, by its name. */
const probe = async ({ kubectl }: Lane, from: Pod, targets: Target[]): Promise<Map<string, string>> => {
  const pod = [from.metadata.name, "--namespace", projectNamespace, "--container", "agent"];
  const printed = await kubectl("exec", ...pod, "--", "node", "--eval", probeScript, JSON.stringify(targets));
  const outcomes = JSON.parse(printed) as string[];
  return new Map(targets.map(({ what }, index) => [what, outcomes[index] ?? ""]));
};

/** `wanted`: whether each is to be reached. */
const expectAll = (outcomes: Map<string, string>, wanted: boolean): string => {
  const wrong = [...outcomes].filter(([, outcome]) => (outcome === "connected") !== wanted);
  if (wrong.length > 0) throw new Error(wrong.map(([what, outcome]) => `${what}: ${outcome}`).join("\n"));
  return [...outcomes.keys()].join(", ");
};

const podIpOf = async (lane: Lane, component: string): Promise<string> =>
  (await systemPod(lane, component))?.status?.podIP ?? "";

const jsonPath = async ({ kubectl }: Lane, path: string, ...args: string[]): Promise<string> =>
  (await kubectl("get", ...args, "--output", `jsonpath=${path}`)).trim();

/** What a browser must not reach. `from`: where the probes come from; `others`: further browsers. */
const privateTargets = async (lane: Lane, from: Pod, others: Pod[]): Promise<Target[]> => {
  const endpoints = ["endpointslices", "--namespace", "default", "--selector", "kubernetes.io/service-name=kubernetes"];
  const otherNode = others.find(({ spec }) => spec?.nodeName !== from.spec?.nodeName);
  const sameNode = others.find(({ spec }) => spec?.nodeName === from.spec?.nodeName);
  const agents = { "an agent on another node": otherNode, "an agent on the same node": sameNode };
  return [
    {
      what: "API server",
      host: await jsonPath(lane, "{.spec.clusterIP}", "service", "kubernetes", "--namespace", "default"),
      port: 443,
    },
    {
      what: "API server's own address",
      host: await jsonPath(lane, "{.items[0].endpoints[0].addresses[0]}", ...endpoints),
      port: Number(await jsonPath(lane, "{.items[0].ports[0].port}", ...endpoints)),
    },
    { what: "Redis", host: await podIpOf(lane, "redis"), port: 6379 },
    { what: "Redis' Service", host: `browserpool-redis.${systemNamespace}.svc`, port: 6379 },
    { what: "ops port of the api", host: await podIpOf(lane, "api"), port: 9090 },
    { what: "ops port of the operator", host: await podIpOf(lane, "operator"), port: 9090 },
    ...Object.entries(agents).flatMap(([what, pod]) =>
      pod ? { what, host: pod.status?.podIP ?? "", port: 7510 } : [],
    ),
  ];
};

const namespaces = [systemNamespace, projectNamespace];

/** Does `work` while there is no NetworkPolicy, neither around browsers nor around the service. */
const withoutPolicies = async ({ kube }: Lane, work: () => Promise<void>): Promise<void> => {
  const lists = await Promise.all(namespaces.map((namespace) => kube.list(networkPolicies, { namespace })));
  const policies = lists.flatMap(({ items }) => items);
  for (const { metadata } of policies)
    await kube.delete(networkPolicies, metadata as { namespace: string; name: string });
  try {
    await work();
  } finally {
    for (const { metadata, ...rest } of policies) {
      const { name, namespace = "", labels = {}, annotations = {} } = metadata;
      await kube.create(networkPolicies, { ...rest, metadata: { name, namespace, labels, annotations } });
    }
  }
};

const targetsOf = (all: StandIn[], isPublic: boolean): Target[] =>
  all.filter((one) => one.isPublic === isPublic).map(({ what, host, port }) => ({ what, host, port }));

export const network: Phase = {
  name: "network",
  summary: "what a browser reaches with the NetworkPolicies, and without them",
  async run(lane, check) {
    await using pool = await fullPool(lane, "network", 4);
    await using others = await standIns(lane);
    const [from, ...rest] = await pool.pods();
    if (!from) throw new Error("no browser");
    const secret = [...(await privateTargets(lane, from, rest)), ...targetsOf(others.all, false)];
    const open = targetsOf(others.all, true);
    const dns = {
      what: "cluster DNS",
      host: await jsonPath(lane, "{.spec.clusterIP}", "service", "kube-dns", "--namespace", "kube-system"),
      port: 53,
    };

    await check("no way", async () => expectAll(await probe(lane, from, secret), false));
    await check("allowed", async () => expectAll(await probe(lane, from, [dns, ...open]), true));
    await check("the gateway reaches its agent", async () => {
      const session = await pool.acquire();
      await withCdp(session.cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
      await pool.release(session);
    });
    await withoutPolicies(lane, () =>
      check("without policies the same probes succeed", async () => expectAll(await probe(lane, from, secret), true)),
    );
    await check("with the policies back there is no way again", async () =>
      expectAll(await probe(lane, from, secret), false),
    );
  },
};
