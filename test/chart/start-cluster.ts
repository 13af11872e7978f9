import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { embeddedObjects } from "../../scripts/chart/embedded-objects.ts";
import { root } from "../../scripts/generated-file.ts";
import { runProgram } from "../../scripts/run-program.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";

export const systemNamespace = "browserpool-system";

/** The Secret that stands for one of imagePullSecrets. */
export const pullSecret = "registry";

const operator = `${systemNamespace}:browserpool-operator`;

/**
 * `admin` may do everything; `member` is a person who may write pods and Secrets in the project and in the namespace
 * `other`; the other accounts are the chart's ServiceAccounts.
 */
export type Account = "admin" | "member" | "api" | "operator";

type Said = { ok: boolean; text: string };

export type Cluster = {
  /** Runs kubectl as an account, with `objects` on stdin. Does not reject when kubectl fails. */
  kubectl(account: Account, args: string, objects?: readonly object[]): Promise<Said>;
  /** What the operator makes of the chart's files: its pods, and the objects of a project. */
  pod: object;
  projectObjects: object[];
  /** The Deployments and the StatefulSet of the release. */
  workloads: Rendered[];
  stop(): Promise<void>;
};

/** An object of the chart. */
type Rendered = { kind: string; metadata: { name: string }; spec?: { template?: { spec: object } } };

/**
 * Admission policies take effect a moment after they are written. This policy then refuses the operator what its roles
 * allow: each time another label, since kubectl sends nothing that changes nothing.
 */
const policiesWork = async ({ kubectl }: Pick<Cluster, "kubectl">): Promise<void> => {
  for (let left = 120; left > 0; left--) {
    const { ok } = await kubectl("operator", `label namespace other probe=x${left} --overwrite`);
    if (!ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("the admission policies did not take effect");
};

/**
 * A control plane of its own with the definitions of crds/ and the objects of manifests/install.yaml (the rendered
 * chart), a project in the namespace `team`, and a namespace `other` that is no project. No pod of it runs: the tests
 * need only rights and policies.
 */
export const startCluster = async (): Promise<Cluster> => {
  const dataDir = await mkdtemp(join(tmpdir(), "browserpool-chart-"));
  const programs = locatePrograms();
  const log = createLogger("error", "test");
  const plane = await startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });
  const common = [`--kubeconfig=${plane.kubeconfigPath}`, `--cache-dir=${join(dataDir, "kubectl-cache")}`];
  const kubectl: Cluster["kubectl"] = async (account, args, objects = []) => {
    const users = { admin: [], member: ["--as=ann"] };
    const serviceAccount = [`--as=system:serviceaccount:${systemNamespace}:browserpool-${account}`];
    const as = account === "admin" || account === "member" ? users[account] : serviceAccount;
    // JSON, since `create --raw` sends it as it is.
    const input = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    const all = [...common, ...as, ...args.split(" ")];
    const { code, stdout, stderr } = await runProgram(programs.kubectl ?? "kubectl", all, input);
    return { ok: code === 0, text: `${stdout}${stderr}` };
  };
  const must = async (...call: Parameters<Cluster["kubectl"]>): Promise<void> => {
    const { ok, text } = await kubectl(...call);
    if (!ok) throw new Error(`kubectl ${call[1]}: ${text}`);
  };
  const stop = async (): Promise<void> => {
    await plane.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    // As the head of manifests/install.yaml tells users.
    await must("admin", "apply --server-side -f crds/");
    await must("admin", "wait --for=condition=Established -f crds/");
    for (const name of [systemNamespace, "team", "other"]) await must("admin", `create namespace ${name}`);
    await must("admin", "label namespace team browserpool.dev/project=team");
    const resources = "pods,pods/eviction,secrets";
    await must("admin", `create clusterrole member --verb=get,list,create,patch,delete --resource=${resources}`);
    for (const name of ["team", "other"])
      await must("admin", `create rolebinding ann --clusterrole=member --user=ann -n ${name}`);
    // As the chart has it with imagePullSecrets, which the file leaves out.
    const rendered = (await readFile(join(root, "manifests/install.yaml"), "utf8")).replace(
      "object.metadata.name in [] &&",
      `object.metadata.name in ['${pullSecret}'] &&`,
    );
    await must("admin", `create clusterrole copies --verb=patch --resource=secrets --resource-name=${pullSecret}`);
    for (const name of ["team", "other"])
      await must("admin", `create rolebinding copies --clusterrole=copies --serviceaccount=${operator} -n ${name}`);
    const all = parseAllDocuments(rendered).map((document) => document.toJS() as Rendered | null);
    await must(
      "admin",
      "apply --server-side -f -",
      all.filter((object) => object !== null),
    );
    await policiesWork({ kubectl });
    const { pods, namespaceLabels, projectObjects } = embeddedObjects(rendered);
    const [pod = {}] = pods;
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team", labels: namespaceLabels } };
    await must("operator", "apply --server-side -f -", [namespace]);
    await must("operator", "apply --server-side -n team -f -", projectObjects);
    const workloads = all.filter((object) => object?.spec?.template !== undefined) as Rendered[];
    return { kubectl, pod, projectObjects, workloads, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
