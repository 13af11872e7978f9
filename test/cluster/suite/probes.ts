/** Connections that are tried from the pod of a browser, as code that has broken out of a page would. */
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { type Lane, systemNamespace } from "../lane.ts";
import { systemPod } from "./system-pods.ts";

export type Target = { what: string; host: string; port: number };

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
export const probe = async ({ kubectl }: Lane, from: Pod, targets: Target[]): Promise<Map<string, string>> => {
  const pod = [from.metadata.name, "--namespace", from.metadata.namespace ?? "", "--container", "agent"];
  const printed = await kubectl("exec", ...pod, "--", "node", "--eval", probeScript, JSON.stringify(targets));
  const outcomes = JSON.parse(printed) as string[];
  return new Map(targets.map(({ what }, index) => [what, outcomes[index] ?? ""]));
};

/** `wanted`: whether each is to be reached. */
export const expectAll = (outcomes: Map<string, string>, wanted: boolean): string => {
  const wrong = [...outcomes].filter(([, outcome]) => (outcome === "connected") !== wanted);
  if (wrong.length > 0) throw new Error(wrong.map(([what, outcome]) => `${what}: ${outcome}`).join("\n"));
  return [...outcomes.keys()].join(", ");
};

const podIpOf = async (lane: Lane, component: string): Promise<string> =>
  (await systemPod(lane, component))?.status?.podIP ?? "";

/** One value of an object, by kubectl. */
export const jsonPath = async ({ kubectl }: Lane, path: string, ...args: string[]): Promise<string> =>
  (await kubectl("get", ...args, "--output", `jsonpath=${path}`)).trim();

/** What a browser must not reach. `from`: where the probes come from; `others`: further browsers. */
export const privateTargets = async (lane: Lane, from: Pod, others: Pod[]): Promise<Target[]> => {
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
