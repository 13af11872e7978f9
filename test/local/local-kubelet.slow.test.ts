import { randomUUID } from "node:crypto";
import { access, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalKubelet, startLocalKubelet } from "../../src/local/kubelet/local-kubelet.ts";
import { podTempFolder } from "../../src/local/leftovers.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import { leases, nodes, pods } from "../../src/platform/kube/resource-type.ts";
import { type AgentPod, agentPod } from "../support/agent-pod.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive, processesOf } from "../support/processes.ts";

const fakeAgent = join(import.meta.dirname, "../support/fake-agent.ts");
const log = createLogger("silent", "test");
let dataDir: string;
let kube: Kube;
let namespace: string;
let nodeName: string;
let node: LocalKubelet;

const startNode = (): Promise<LocalKubelet> =>
  startLocalKubelet({
    kube,
    dataDir,
    nodeName,
    namespace,
    agentCommand: [process.execPath, fakeAgent],
    agentEnv: { PATH: process.env.PATH ?? "", SHARED: "by all" },
    log,
  });

const create = (pod: Omit<AgentPod, "namespace">): Promise<Pod> => kube.create(pods, agentPod({ ...pod, namespace }));
const read = (name: string): Promise<Pod | undefined> => kube.get(pods, { namespace, name });
const conditionOf = (pod: Pod | undefined, type: string) => pod?.status?.conditions?.find((c) => c.type === type);
const isReady = (pod: Pod | undefined): boolean => conditionOf(pod, "Ready")?.status === "True";

const whenReady = (name: string): Promise<Pod> =>
  eventually(`${name} is ready`, async () => {
    const pod = await read(name);
    return isReady(pod) && pod;
  });
const whenOver = (name: string): Promise<Pod> =>
  eventually(`${name} has ended`, async () => {
    const pod = await read(name);
    return (pod?.status?.phase === "Failed" || pod?.status?.phase === "Succeeded") && pod;
  });
const whenGone = (name: string): Promise<boolean> =>
  eventually(`${name} is gone`, async () => (await read(name)) === undefined);

const ask = (pod: Pod, path: string): Promise<Response> => fetch(`http://${pod.status?.podIP}:7510${path}`);
/** Pods that were told that no node takes them. */
const waiting = async (): Promise<Pod[]> =>
  (await kube.list(pods, { namespace })).items.filter((pod) => conditionOf(pod, "PodScheduled")?.status === "False");
const podDir = (pod: Pod): string => join(dataDir, "pods", pod.metadata.uid ?? "");
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

beforeAll(async () => {
  const { kubeconfigPath } = await sharedServers();
  kube = connectKube({ kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  nodeName = `node-of-${namespace}`;
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-node-"));
  node = await startNode();
});
afterAll(async () => {
  await node.stop();
  expect(await processesOf(dataDir)).toEqual([]);
  await kube.close();
  await rm(dataDir, { recursive: true, force: true });
});

test("the node is registered and ready, has no taint, and holds a lease", async () => {
  const seen = await kube.get(nodes, { name: nodeName });
  expect(seen?.status?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
  expect(seen?.status?.allocatable?.pods).toBe("110");
  expect(seen?.metadata.labels?.["kubernetes.io/hostname"]).toBe(nodeName);
  expect(seen?.spec?.taints).toBeUndefined();
  expect((await kube.get(leases, { namespace: "kube-node-lease", name: nodeName }))?.spec?.renewTime).toBeDefined();
});

test("a pod is bound, started and reported as ready with its own address", async () => {
  await create({ name: "first" });
  await create({ name: "second" });
  const [first, second] = [await whenReady("first"), await whenReady("second")];
  expect(first.spec?.nodeName).toBe(nodeName);
  expect(first.status).toMatchObject({ phase: "Running", hostIP: "127.0.0.1", podIPs: [{ ip: first.status?.podIP }] });
  expect(first.status?.podIP).toMatch(/^127\./);
  expect(second.status?.podIP).not.toBe(first.status?.podIP);
  expect(first.status?.startTime).toBeDefined();
  for (const type of ["PodScheduled", "Initialized", "ContainersReady", "Ready"]) {
    expect(conditionOf(first, type)?.status, type).toBe("True");
    expect(conditionOf(first, type)?.lastTransitionTime, type).toBeDefined();
  }
  expect(first.status?.containerStatuses).toMatchObject([
    { name: "agent", ready: true, state: { running: { startedAt: expect.any(String) } } },
  ]);
  expect((await ask(first, "/readyz")).status).toBe(200);
});

test("the process gets its arguments, the pod's variables and its own folder, nothing else", async () => {
  await create({ name: "told", args: ["agent", "$(GREETING)"], env: { GREETING: "hello", JSON: '{"a":1}' } });
  const pod = await whenReady("told");
  const told = (await (await ask(pod, "/env")).json()) as { env: Record<string, string>; argv: string[]; cwd: string };
  expect(told.argv).toEqual(["agent", "hello"]);
  expect(told.cwd).toBe(podDir(pod));
  expect(told.env).toEqual({
    PATH: process.env.PATH,
    SHARED: "by all",
    BROWSERPOOL_AGENT_PORT: "7510",
    BROWSERPOOL_AGENT_ADDRESS: pod.status?.podIP,
    BROWSERPOOL_POD_UID: pod.metadata.uid,
    BROWSERPOOL_POD_NAME: "told",
    GREETING: "hello",
    JSON: '{"a":1}',
    BROWSERPOOL_TERMINATION_LOG: join(podDir(pod), "termination-log"),
    BROWSERPOOL_AGENT_DATA_DIR: podDir(pod),
    BROWSERPOOL_AGENT_SCRATCH_DIRS: podDir(pod),
    HOME: podDir(pod),
    TMPDIR: podTempFolder(pod.metadata.uid),
  });
});

test("a pod that ends with an error is Failed, with its exit code and termination message, and its folder is removed", async () => {
  await create({ name: "crashing", args: ["crashes"] });
  const pod = await whenOver("crashing");
  expect(pod.status?.phase).toBe("Failed");
  expect(isReady(pod)).toBe(false);
  expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
    exitCode: 3,
    reason: "Error",
    message: "it broke",
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
  });
  expect(await exists(podDir(pod))).toBe(false);
});

test("a termination message is cut at 4096 bytes", async () => {
  await create({ name: "talking", args: ["talks-too-much"] });
  const { status } = await whenOver("talking");
  expect(status?.containerStatuses?.[0]?.state?.terminated?.message).toBe("x".repeat(4096));
});

test("a process that is killed after it was ready makes its pod Failed with 128 + the signal, and its folders are removed", async () => {
  await create({ name: "killed", args: ["with-browser"] });
  const ready = await whenReady("killed");
  const folders = [podDir(ready), podTempFolder(ready.metadata.uid)];
  for (const folder of folders) expect(await exists(folder), folder).toBe(true);
  await ask(ready, "/crash").catch(() => undefined);
  const pod = await whenOver("killed");
  for (const folder of folders) expect(await exists(folder), folder).toBe(false);
  expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  expect(conditionOf(pod, "Ready")).toMatchObject({ status: "False", reason: "PodFailed" });
});

test("a deleted pod ends in order, and its folder and log are removed", async () => {
  await create({ name: "deleted" });
  const pod = await whenReady("deleted");
  const logFile = join(dataDir, "logs/pods", `${namespace}_deleted.log`);
  expect(await exists(logFile)).toBe(true);
  await kube.delete(pods, { namespace, name: "deleted" });
  expect((await read("deleted"))?.metadata.deletionTimestamp).toBeDefined();
  await whenGone("deleted");
  expect(await exists(podDir(pod))).toBe(false);
  expect((await processesOf(dataDir)).filter(({ commandLine }) => commandLine.includes("deleted"))).toEqual([]);
  await eventually("the log is removed", async () => !(await exists(logFile)));
});

test("a pod that a finalizer keeps shows how it ended", async () => {
  const pod = agentPod({ namespace, name: "held" });
  await kube.create(pods, { ...pod, metadata: { ...pod.metadata, finalizers: ["browserpool.dev/test"] } });
  await whenReady("held");
  await kube.delete(pods, { namespace, name: "held" });
  const over = await whenOver("held");
  expect(over.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
    exitCode: 0,
    message: "stopped in order",
  });
  await kube.patch(pods, { namespace, name: "held" }, { metadata: { finalizers: null } });
  await whenGone("held");
});

test("a process that ignores SIGTERM is killed after its grace period, together with its browser", async () => {
  await create({ name: "stubborn", args: ["stubborn-with-browser"], graceSeconds: 1 });
  const pod = await whenReady("stubborn");
  const recorded = await readFile(join(podDir(pod), "process-groups"), "utf8");
  const browser = Number(recorded.split(" ")[0]);
  expect(await isAlive(browser)).toBe(true);
  await kube.delete(pods, { namespace, name: "stubborn" });
  await whenGone("stubborn");
  expect(await isAlive(browser)).toBe(false);
});

test("a cordoned node takes no further pod, says why, and takes it when it is uncordoned; running pods continue", async () => {
  await create({ name: "before-cordon" });
  const running = await whenReady("before-cordon");
  await kube.patch(nodes, { name: nodeName }, { spec: { unschedulable: true } });
  await eventually("the node has seen it", async () => {
    await create({ name: `cordoned-${randomUUID()}` });
    return (await waiting()).length > 0;
  });
  const [pod] = await waiting();
  expect(pod?.spec?.nodeName).toBeUndefined();
  expect(conditionOf(pod, "PodScheduled")).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message: "0/1 nodes are available: 1 node(s) were unschedulable.",
  });
  expect((await ask(running, "/readyz")).status).toBe(200);
  await kube.patch(nodes, { name: nodeName }, { spec: { unschedulable: null } });
  const placed = await whenReady(pod?.metadata.name ?? "");
  expect(conditionOf(placed, "PodScheduled")?.status).toBe("True");
});

test("when a pod object vanishes, its process is ended at once, even if it ignores SIGTERM", async () => {
  await create({ name: "vanishing", args: ["ignores-sigterm"], graceSeconds: 600 });
  const pod = await whenReady("vanishing");
  await kube.delete(pods, { namespace, name: "vanishing" }, { gracePeriodSeconds: 0 });
  await eventually("the folder is gone", async () => !(await exists(podDir(pod))));
  await expect(ask(pod, "/readyz")).rejects.toThrow();
});

test("a pod that is not ready after some seconds shows as Running, and then follows its probe", async () => {
  await create({ name: "slow", args: ["never-ready"] });
  const pod = await eventually("slow runs", async () => {
    const seen = await read("slow");
    return seen?.status?.phase === "Running" && seen;
  });
  expect(conditionOf(pod, "Ready")).toMatchObject({ status: "False", reason: "ContainersNotReady" });
  await ask(pod, "/ready");
  await whenReady("slow");
  await ask(pod, "/unready");
  await eventually("slow is not ready any more", async () => !isReady(await read("slow")));
  expect((await read("slow"))?.status?.phase).toBe("Running");
});

test("a pod that no process can run is Failed with the reason", async () => {
  const pod = agentPod({ namespace, name: "unsupported" });
  await kube.create(pods, { ...pod, spec: { ...pod.spec, restartPolicy: "Always" } as Pod["spec"] & object });
  const { status } = await whenOver("unsupported");
  expect(status).toMatchObject({ phase: "Failed", reason: "UnsupportedPod" });
  expect(status?.message).toContain("restartPolicy Always");
});

// Under a heavy load a start may take longer than "soon", hence the retries.
test("the node writes the status of a pod that becomes ready soon only once", { retry: 3 }, async () => {
  const name = `quiet-${randomUUID()}`;
  const watching = new AbortController();
  const { resourceVersion } = await kube.list(pods, { namespace });
  await create({ name });
  const changes: Pod[] = [];
  const watched = (async () => {
    for await (const { type, object } of kube.watch(pods, { resourceVersion, namespace }, watching.signal))
      if (type !== "BOOKMARK" && object.metadata.name === name) changes.push(object);
  })();
  await whenReady(name);
  await kube.delete(pods, { namespace, name });
  await whenGone(name);
  await eventually("the watch has seen the end", () =>
    changes.some((pod) => pod.metadata.deletionGracePeriodSeconds === 0),
  );
  watching.abort();
  await watched.catch(() => undefined);
  const changesInLife = changes.filter((pod) => !pod.metadata.deletionTimestamp);
  expect(changesInLife.map(({ spec, status }) => [spec?.nodeName, status?.phase])).toEqual([
    [undefined, "Pending"],
    [nodeName, "Pending"],
    [nodeName, "Running"],
  ]);
});

test("many pods start and end in parallel", async () => {
  const names = Array.from({ length: 12 }, (_, i) => `many-${i}`);
  await Promise.all(names.map((name) => create({ name, args: ["ignores-sigterm"], graceSeconds: 2 })));
  const ready = await Promise.all(names.map(whenReady));
  expect(new Set(ready.map((pod) => pod.status?.podIP)).size).toBe(names.length);
  await Promise.all(names.map((name) => kube.delete(pods, { namespace, name })));
  await Promise.all(names.map(whenGone));
  for (const pod of ready) expect(await exists(podDir(pod))).toBe(false);
});

test("a stop ends all processes and reports their pods as Failed; the node is no longer ready", async () => {
  await create({ name: "at-stop", args: ["ignores-sigterm"], graceSeconds: 600 });
  const pod = await whenReady("at-stop");
  await node.stop();
  await expect(ask(pod, "/readyz")).rejects.toThrow();
  expect(await readdir(join(dataDir, "pods"))).toEqual([]);
  expect((await read("at-stop"))?.status).toMatchObject({ phase: "Failed", reason: "NodeShutdown" });
  const seen = await kube.get(nodes, { name: nodeName });
  expect(seen?.status?.conditions).toMatchObject([{ type: "Ready", status: "False" }]);
  node = await startNode();
});

test("when the node starts, a pod of a former run is Failed, and one that was being deleted is removed", async () => {
  await node.stop();
  for (const name of ["left", "left-deleted"]) {
    const pod = agentPod({ namespace, name });
    await kube.create(pods, { ...pod, spec: { ...pod.spec, nodeName } as Pod["spec"] & object });
    await kube.patch(pods, { namespace, name }, { status: { phase: "Running" } }, { subresource: "status" });
  }
  await kube.delete(pods, { namespace, name: "left-deleted" });
  node = await startNode();
  expect((await read("left"))?.status).toMatchObject({ phase: "Failed", reason: "NodeRestart" });
  expect(await read("left-deleted")).toBeUndefined();
  await create({ name: "after-restart" });
  await whenReady("after-restart");
  expect(await readdir(join(dataDir, "pods"))).toHaveLength(1);
});
