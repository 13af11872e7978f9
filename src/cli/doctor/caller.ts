/** What `browserpool doctor --cluster` tries as a caller of the installation: a browser, what it reaches, the store. */
import { randomBytes } from "node:crypto";
import { probe } from "../../cmd/probe.ts";
import { hostPort } from "../../platform/base/host-port.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject, Pod } from "../../platform/kube/objects.ts";
import { pods, type ResourceType } from "../../platform/kube/resource-type.ts";
import { call, Refused, type Service } from "../service.ts";
import { looksUp, reached, type Target } from "./browser-reach.ts";
import { type Check, type Found, ok, problem, skipped, warning } from "./finding.ts";
import { browsersOf, type Installation, ofRelease } from "./installation.ts";
import { wayOutOf } from "./project.ts";

type Parts = {
  kube: Kube;
  place: Installation;
  service: Service;
  pool: string | undefined;
  /** Gets a line from time to time while browsers start. */
  say: (line: string) => void;
};

const away = skipped("the service does not answer");

const answers = async ({ service, place }: Parts, signal: AbortSignal): Promise<Found> => {
  try {
    await call(service, "/browser_pools?limit=1", { signal });
    return ok(`answers at ${service.url}`);
  } catch (error) {
    signal.throwIfAborted();
    const says = error instanceof Error ? error.message : String(error);
    return problem(
      says,
      `check KERNEL_BASE_URL and KERNEL_API_KEY; the api's log says more:\nkubectl logs --selector app.kubernetes.io/component=api --namespace ${place.namespace}`,
    );
  }
};

/** A zip file of one file, `manifest.json`: `{"manifest_version":3,"name":"doctor","version":"1"}`. */
const smallestExtension =
  "UEsDBBQAAAAAAAAAIVzmPTNfNAAAADQAAAANAAAAbWFuaWZlc3QuanNvbnsibWFuaWZlc3RfdmVyc2lvbiI6MywibmFtZSI6ImRvY3RvciIsInZlcn" +
  "Npb24iOiIxIn1QSwECFAMUAAAAAAAAACFc5j0zXzQAAAA0AAAADQAAAAAAAAAAAAAAgAEAAAAAbWFuaWZlc3QuanNvblBLBQYAAAAAAQABADsAAABf" +
  "AAAAAAA=";

/** An object is stored and deleted: an extension that nothing uses. */
const store = ({ service }: Parts): Check => ({
  name: "blob store",
  async find(signal) {
    const body = new FormData();
    body.set("name", `doctor-${randomBytes(4).toString("hex")}`);
    body.set("file", new Blob([Buffer.from(smallestExtension, "base64")], { type: "application/zip" }), "doctor.zip");
    try {
      const stored = await call<{ id: string }>(service, "/extensions", { method: "POST", body, signal });
      await call(service, `/extensions/${stored?.id}`, { method: "DELETE", signal: new AbortController().signal });
      return ok("an extension was stored and deleted");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { code, message } = error;
      if (code === "not_supported_here")
        return warning("none is set: no profiles, extensions and replays", "blobs.s3 of the chart: docs/blobs.md");
      if (code === "forbidden") return skipped(`not tried: ${message}`);
      return problem(
        message,
        "look at blobs.s3, its Secret and networkPolicy.s3: docs/blobs.md; the api's log says more",
      );
    }
  },
});

type KubeService = KubeObject & { spec: { clusterIP?: string; ports?: { port: number }[] } };
const services: ResourceType<KubeService> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};

/** The ports of pods as targets; their callers' port is left out, which is for everybody. */
const targetsIn = (items: readonly Pod[], whatOf: (pod: Pod, port: string) => string): Target[] =>
  items.flatMap((pod) => {
    const ports = pod.spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
    const { podIP = "" } = pod.status ?? {};
    return ports
      .filter(({ name, protocol = "TCP" }) => podIP !== "" && name !== "http" && protocol === "TCP")
      .map(({ name = "", containerPort }) => ({
        what: whatOf(pod, name),
        url: `http://${hostPort(podIP, containerPort)}/`,
      }));
  });

/** Browsers whose agents are tried: those of a large project would take long. */
const mostAgents = 8;

/** The agents of the project, the browser's own among them. */
const agentsOf = async ({ kube, place }: Parts): Promise<Target[]> => {
  const { items } = await kube.list(pods, { ...browsersOf(place), limit: mostAgents });
  return targetsIn(items, ({ metadata }) => `agent of ${metadata.name}`);
};

/** What no browser may reach, but for the agents of other browsers. */
const forbiddenTargets = async ({ kube, place }: Parts): Promise<Target[]> => {
  const [{ items: ours }, api] = await Promise.all([
    kube.list(pods, ofRelease(place)),
    kube.get(services, { namespace: "default", name: "kubernetes" }),
  ]);
  const { clusterIP, ports: [first] = [] } = api?.spec ?? {};
  return [
    { what: "metadata", url: "http://169.254.169.254/" },
    ...(clusterIP && first ? [{ what: "API server", url: `https://${hostPort(clusterIP, first.port)}/` }] : []),
    ...targetsIn(ours, ({ metadata }, port) => `port ${port} of ${metadata.labels?.["app.kubernetes.io/component"]}`),
  ];
};

const listed = (targets: readonly Target[]): string => [...new Set(targets.map(({ what }) => what))].join(", ");

/** Another browser, while `work` is done: there must be no way to it. */
const besideAnother = async <T>({ service }: Parts, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  const body = { headless: true, timeout_seconds: 120 };
  const other = await call<{ session_id: string }>(service, "/browsers", { method: "POST", body, signal });
  try {
    return await work();
  } finally {
    await call(service, `/browsers/${other?.session_id}`, { method: "DELETE", signal: new AbortController().signal });
  }
};

/** What the browser at this CDP endpoint reaches of what it may not. */
const isolationOf = async (cdpUrl: string, parts: Parts, signal: AbortSignal): Promise<Found> => {
  const [agents, others] = await Promise.all([agentsOf(parts), forbiddenTargets(parts)]);
  const open = await reached(cdpUrl, [...others, ...agents], signal);
  const openAgents = agents.filter((agent) => open.includes(agent));
  // A pod reaches itself, whatever policies say.
  const wrong = [...others.filter((target) => open.includes(target)), ...(openAgents.length > 1 ? openAgents : [])];
  if (wrong.length > 0)
    return problem(
      `a browser reaches: ${listed(wrong)}`,
      "the cluster's network must enforce NetworkPolicies, and those of the chart must be there: docs/security.md",
    );
  const between = agents.length > 1 ? ", other agents" : "";
  return ok(`a browser reaches none of: ${listed(others)}${between}`);
};

/** A node may have to pull the image first, ms. */
const browserMs = 480_000;

/** Whether the browser at this CDP endpoint can look names up. */
const namesOf = async (cdpUrl: string, { place }: Parts, signal: AbortSignal): Promise<Found> => {
  const name = `kubernetes.default.svc.${place.clusterDomain}`;
  if (await looksUp(cdpUrl, `http://${name}./`, signal)) return ok("a browser looks names up");
  return problem(
    `a browser finds no address of ${name}`,
    "its NetworkPolicy must let it reach the cluster's DNS: networkPolicy.dns, docs/network.md",
  );
};

type Tried = { used: Found; names: Found; isolation: Found };

/** One browser is acquired for all findings. */
const tryBrowser = async (parts: Parts, signal: AbortSignal): Promise<Tried> => {
  const { service, pool, say } = parts;
  const lines: string[] = [];
  let isolation: Found = skipped("no browser to look from");
  let names = isolation;
  const further = {
    what: "try what it reaches",
    async run(url: string, within: AbortSignal) {
      const untold = (error: unknown): Found =>
        skipped(`not told: ${error instanceof Error ? error.message : String(error)}`);
      [names, isolation] = await Promise.all([
        namesOf(url, parts, within).catch(untold),
        besideAnother(parts, within, () => isolationOf(url, parts, within)).catch(untold),
      ]);
    },
  };
  const hear = (line: string): void => {
    lines.push(line);
    if (line.startsWith("…")) say(line);
  };
  const code = await probe({ url: service.url, apiKey: service.key, pool }, hear, signal, further);
  if (code !== 0) {
    const [failed = ""] = lines.filter((line) => line.startsWith("FAILED"));
    return { used: problem(failed.replace(/^FAILED +/, ""), wayOutOf(failed)), names, isolation };
  }
  return { used: ok("made, acquired, driven over CDP and released"), names, isolation };
};

/** The checks of an installation by its use. Where the service does not answer, that is told once. */
export const callerChecks = (parts: Parts, signal: AbortSignal): Check[] => {
  const until = AbortSignal.any([signal, AbortSignal.timeout(browserMs)]);
  const answered = answers(parts, until);
  const hasAnswered = answered.then(({ state }) => state === "ok");
  const use = hasAnswered.then((isThere) =>
    isThere ? tryBrowser(parts, until) : { used: away, names: away, isolation: away },
  );
  use.catch(() => {});
  const blobs = store(parts);
  return [
    { name: "service", find: () => answered },
    { ...blobs, find: async (limit) => ((await hasAnswered) ? blobs.find(limit) : away) },
    { name: "browser", limitMs: browserMs, find: async () => (await use).used },
    { name: "DNS", limitMs: browserMs, find: async () => (await use).names },
    { name: "isolation", limitMs: browserMs, find: async () => (await use).isolation },
  ];
};
