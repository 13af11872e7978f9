/** Pods that ask for less of the processor while their browsers are idle, on a real API server. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeObject, Pod } from "../../../src/platform/kube/objects.ts";
import { pods, type ResourceType } from "../../../src/platform/kube/resource-type.ts";
import type { Replica } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { fullPool, type PoolClient } from "../../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let pool: PoolClient;
let operator: Replica;
let opsUrl: string;

const startOperator = async (name: string, idleCpu?: string): Promise<void> => {
  const file = join(cluster.dataDir, `${name}.yaml`);
  const resources = { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "2Gi" } };
  await writeFile(file, stringify({ spec: { containers: [{ name: "agent", resources }] }, idleCpu }));
  operator = cluster.startOperator(name, { BROWSERPOOL_BROWSER_TEMPLATE_FILE: file });
  opsUrl = (await operator.logged("ops port is open")).listen ?? "";
};

beforeAll(async () => {
  cluster = await startSimulatedCluster({ env: { BROWSERPOOL_OPS_PORT: "0" } });
  await startOperator("always-the-same");
  const { call } = await cluster.startApi("api");
  pool = await fullPool(call, 1);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const podNow = async (): Promise<Pod | undefined> => {
  const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
  return items.find(({ metadata }) => !metadata.deletionTimestamp);
};
const asks = ({ spec }: Pod) => spec?.containers[0]?.resources?.requests?.cpu;
const isMarked = ({ metadata }: Pod) => metadata.labels?.["browserpool.dev/leased"] === "true";
const whenPod = (what: string, isIt: (pod: Pod) => boolean): Promise<Pod> =>
  eventually(what, async () => {
    const pod = await podNow();
    return pod && isIt(pod) && pod;
  });

/** The sum of the samples of the operator's metrics that begin with this. */
const counted = async (start: string): Promise<number> => {
  const lines = (await (await fetch(`${opsUrl}/metrics`)).text()).split("\n").filter((line) => line.startsWith(start));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
};
const resizeCalls = () => counted('browserpool_kube_requests_total{method="PATCH",resource="pods/resize"');
const resizes = (result: string) => counted(`browserpool_pod_resizes_total{result="${result}"}`);

test("without idleCpu a pod asks for the same always, and nothing is resized", async () => {
  const session = await pool.acquire();
  expect(asks(await whenPod("it is marked", isMarked))).toBe("250m");
  await pool.release(session);
  await whenPod("the mark is gone", (pod) => !isMarked(pod));
  expect(await resizeCalls()).toBe(0);
  operator.kill("SIGTERM");
  await operator.exited;
});

test("a change of idleCpu replaces the browsers; a pod asks for more while its browser is in use, and of nothing else", async () => {
  await startOperator("less-when-idle", "50m");
  const idle = await whenPod("a new browser", (pod) => asks(pod) === "50m");
  await pool.whenCounts({ acquired: 0, available: 1 });
  const session = await pool.acquire();
  const used = await whenPod("it asks for more", (pod) => asks(pod) === "250m");
  expect(used.metadata.uid).toBe(idle.metadata.uid);
  expect(isMarked(used)).toBe(true);
  expect(used.spec?.containers[0]?.resources).toEqual({
    requests: { cpu: "250m", memory: "512Mi" },
    limits: { memory: "2Gi" },
  });
  expect(used.status?.qosClass).toBe(idle.status?.qosClass);
  await pool.release(session);
  await whenPod("it asks for less", (pod) => asks(pod) === "50m" && !isMarked(pod));
  expect(await resizes("done")).toBe(2);
  expect(await resizeCalls()).toBe(2);
});

test("a refused resize harms no lease, and is tried again", async () => {
  const group = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
  const policies: ResourceType<KubeObject> = {
    ...{ ...group, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" },
  };
  const bindings: ResourceType<KubeObject> = {
    ...{ ...group, kind: "ValidatingAdmissionPolicyBinding", plural: "validatingadmissionpolicybindings" },
  };
  const name = "no-resizes";
  const rule = { apiGroups: [""], apiVersions: ["*"], resources: ["pods/resize"], operations: ["UPDATE"] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false" }] };
  await cluster.kube.create(policies, { metadata: { name }, spec } as unknown as KubeObject);
  const inForce = { policyName: name, validationActions: ["Deny"] };
  await cluster.kube.create(bindings, { metadata: { name }, spec: inForce } as unknown as KubeObject);
  const session = await pool.acquire();
  await operator.logged("a pod could not be resized");
  await eventually("it is counted", async () => (await resizes("refused")) > 0);
  expect(asks(await whenPod("it is in use", isMarked))).toBe("50m");
  expect(await pool.counts()).toEqual({ acquired: 1, available: 0 });
  await cluster.kube.delete(bindings, { name });
  await cluster.kube.delete(policies, { name });
  await whenPod("it asks for more after all", (pod) => asks(pod) === "250m");
  expect(await pool.release(session)).toBe(204);
});
