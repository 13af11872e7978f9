import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, type Phase, projectNamespace, systemNamespace } from "../lane.ts";
import { fullPool } from "./pools.ts";

const level = "pod-security.kubernetes.io/enforce";

const podWith = ({ images }: Lane, name: string, security: object): Pod =>
  ({
    metadata: { name, namespace: projectNamespace },
    spec: { containers: [{ name: "any", image: `${images.prefix}/service:${images.tag}`, securityContext: security }] },
  }) as Pod;

/** The refusal of a pod; empty when it is taken, and then it is gone again. */
const refusalOf = async ({ kube }: Lane, pod: Pod): Promise<string> => {
  try {
    await kube.create(pods, pod);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  await kube.delete(pods, { namespace: projectNamespace, name: pod.metadata.name }, { gracePeriodSeconds: 0 });
  return "";
};

/** Prints, for each renderer, its numbers in the PID namespaces that it is in, outermost first. */
const renderersScript = `
const { readdirSync, readFileSync } = require("node:fs");
const read = (pid, file) => { try { return readFileSync("/proc/" + pid + "/" + file, "utf8"); } catch { return ""; } };
const others = readdirSync("/proc").filter((name) => Number(name) > 0 && Number(name) !== process.pid);
const renderers = others.filter((pid) => read(pid, "cmdline").includes("--type=renderer"));
console.log(JSON.stringify(renderers.map((pid) => /^NSpid:\\s*(.*)$/m.exec(read(pid, "status"))?.[1] ?? "")));
`;

/** Whether renderers are where Chromium's sandbox puts them: in a PID namespace below that of their pod. */
const expectSandbox = async ({ kubectl }: Lane, pod: Pod): Promise<string> => {
  const inside = [pod.metadata.name, "--namespace", projectNamespace, "--container", "agent"];
  const found = JSON.parse(await kubectl("exec", ...inside, "--", "node", "--eval", renderersScript)) as string[];
  const isApart = (numbers: string): boolean => numbers.split(/\s+/).length > 1;
  if (found.length === 0 || !found.every(isApart)) throw new Error(`renderers: ${JSON.stringify(found)}`);
  return `${found.length} renderer, process ${found[0]?.split(/\s+/).at(-1)} in a namespace of its own`;
};

/** What would take over a node, with the account of the operator. The API server only tries. */
const takeovers = (lane: Lane, { metadata, spec }: Pod): [what: string, args: string[], object?: object][] => {
  const pod = (name: string, change: object, container: object = {}): [string, string[], object] => [
    name,
    ["create"],
    {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: metadata.name, namespace: projectNamespace } },
      spec: {
        containers: spec?.containers.map((it) => ({ ...it, volumeMounts: [], ...container })),
        ...{ automountServiceAccountToken: false, securityContext: spec?.securityContext, ...change },
      },
    },
  ];
  const foreign = `${lane.images.prefix}/service:${lane.images.tag}`;
  const label = ["label", "namespace", projectNamespace, "--overwrite"];
  return [
    ["a project that enforces privileged", [...label, `${level}=privileged`]],
    ["a project that enforces nothing", [...label, `${level}-`]],
    pod("a privileged pod", {}, { securityContext: { privileged: true } }),
    pod("the node's processes", { hostPID: true }),
    pod("the node's files", { volumes: [{ name: "node", hostPath: { path: "/" } }] }),
    pod("a foreign image", {}, { image: foreign }),
    [
      "another image of a browser",
      ["set", "image", `pod/${metadata.name}`, `--namespace=${projectNamespace}`, `agent=${foreign}`],
    ],
  ];
};

/**
 * Rejects when the operator's account may do this, and when anything but a policy of the chart or Pod Security refuses
 * it.
 */
const expectRefused = async (
  { folder, kubectl }: Lane,
  { what, args, object }: { what: string; args: string[]; object: object | undefined },
): Promise<string> => {
  const file = join(folder, "taken-over.json");
  if (object) await writeFile(file, JSON.stringify(object));
  const as = `--as=system:serviceaccount:${systemNamespace}:browserpool-operator`;
  const all = [...args, ...(object ? [`--filename=${file}`] : []), as, "--dry-run=server"];
  const said = await kubectl(...all).catch((error: unknown) => error);
  if (!(said instanceof Error)) throw new Error(`${what}: taken: ${String(said)}`);
  if (!/ValidatingAdmissionPolicy 'browserpool-|violates PodSecurity/.test(said.message))
    throw new Error(`${what}: ${said.message}`);
  return what;
};

export const podSecurity: Phase = {
  name: "pod-security",
  summary: "all of it runs under Pod Security restricted, which is enforced",
  async run(lane, check) {
    await using pool = await fullPool(lane, "pod-security", 1);
    const [browser] = await pool.pods();
    if (!browser) throw new Error("no browser");
    await check("Chromium keeps its own sandbox", () => expectSandbox(lane, browser));
    await check(`browsers run in ${projectNamespace}, which enforces restricted`, async () => {
      const label = await lane.kubectl("get", "namespace", projectNamespace, "--output", `jsonpath={.metadata.labels}`);
      if (JSON.parse(label)[level] !== "restricted") throw new Error(`labels: ${label}`);
      return (await lane.kubectl("get", "pods", "--namespace", projectNamespace)).trim();
    });
    await check("a pod that is root, or may become it, is refused there", async () => {
      const bad = { root: { runAsUser: 0 }, privileged: { privileged: true }, "no profile": { runAsNonRoot: true } };
      for (const [name, security] of Object.entries(bad)) {
        const refusal = await refusalOf(lane, podWith(lane, `bad-${name.replace(" ", "-")}`, security));
        if (!refusal.includes('violates PodSecurity "restricted')) throw new Error(`${name}: ${refusal || "taken"}`);
      }
      return "root, privileged, without a seccomp profile";
    });
    await check("the operator's account can't make such a pod, nor open the project to it", async () => {
      const said: string[] = [];
      for (const [what, args, object] of takeovers(lane, browser))
        said.push(await expectRefused(lane, { what, args, object }));
      return said.join(", ");
    });
    await check(`all pods in ${systemNamespace} are restricted too`, async () => {
      const found = await lane.kubectl("get", "pods", "--namespace", systemNamespace, "--output", "name");
      const label = [`${level}=restricted`, "--overwrite", "--dry-run=server"];
      const said = await lane.kubectl("label", "namespace", systemNamespace, ...label);
      if (said.includes("violate")) throw new Error(said);
      return `${found.trim().split("\n").length} pods`;
    });
  },
};
