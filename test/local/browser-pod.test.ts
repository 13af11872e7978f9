import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentState, Termination } from "../../src/core/protocol/agent-api.ts";
import { writeAgentKey } from "../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { type LocalKubelet, startLocalKubelet } from "../../src/local/kubelet/local-kubelet.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { agentPod } from "../support/agent-pod.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive, processesOf } from "../support/processes.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const env = {
  BROWSERPOOL_BROWSER: JSON.stringify({ headless: true, kiosk_mode: false, viewport: { width: 800, height: 600 } }),
  BROWSERPOOL_AGENT_PUBLIC_KEY: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
  BROWSERPOOL_AGENT_KEY: writeAgentKey(createSecretKey(randomBytes(32))),
};
let dataDir: string;
let kube: Kube;
let namespace: string;
let node: LocalKubelet;

const start = async (name: string): Promise<Pod> => {
  await kube.create(pods, agentPod({ name, namespace, env }));
  return eventually(`${name} is ready`, async () => {
    const pod = await kube.get(pods, { name, namespace });
    return pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") && pod;
  });
};

const podDir = (pod: Pod): string => join(dataDir, "pods", pod.metadata.uid ?? "");

beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-browser-pod-"));
  node = await startLocalKubelet({
    kube,
    dataDir,
    namespace,
    nodeName: `node-of-${namespace}`,
    agentCommand: [process.execPath, join(import.meta.dirname, "../support/agent-entry.ts")],
    agentEnv: { PATH: process.env.PATH ?? "", BROWSERPOOL_LOG_LEVEL: "warn" },
    log: createLogger("silent", "test"),
  });
});
afterAll(async () => {
  await node.stop();
  await kube.close();
  await rm(dataDir, { recursive: true, force: true });
});

test("a browser's pod becomes ready with a browser behind its address, and its deletion leaves nothing", async () => {
  const pod = await start("browser");
  const token = createAgentTokens(privateKey).tokenFor(pod.metadata.uid ?? "");
  const answer = await fetch(`http://${pod.status?.podIP}:7510/state`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(AgentState.parse(await answer.json())).toMatchObject({ pod_uid: pod.metadata.uid, lease: null });
  expect((await processesOf(podDir(pod))).length).toBeGreaterThan(2);
  await kube.delete(pods, { name: "browser", namespace });
  await eventually("the pod is gone", async () => !(await kube.get(pods, { name: "browser", namespace })));
  expect(await processesOf(podDir(pod))).toEqual([]);
});

test.each([
  ["on record", "killed"],
  ["not on record yet", "killed-early"],
])("a killed agent takes its browser, which is %s, with it, and its pod is Failed", async (_, name) => {
  const pod = await start(name);
  if (name === "killed-early") await writeFile(join(podDir(pod), "process-groups"), "");
  const [agent] = (await processesOf(podDir(pod))).filter(({ commandLine }) => commandLine.includes("agent-entry"));
  process.kill(agent?.pid ?? 0, "SIGKILL");
  const failed = await eventually("the pod is Failed", async () => {
    const seen = await kube.get(pods, { name, namespace });
    return seen?.status?.phase === "Failed" && seen;
  });
  expect(failed.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  expect(await processesOf(podDir(pod))).toEqual([]);
});

test("a browser that crashes ends its pod, with the agent's reason", async () => {
  const pod = await start("crashing");
  const groups = await readFile(join(podDir(pod), "process-groups"), "utf8");
  const browser = Number(groups.split(" ")[0]);
  expect(await isAlive(browser)).toBe(true);
  process.kill(-browser, "SIGKILL");
  const failed = await eventually("the pod is Failed", async () => {
    const seen = await kube.get(pods, { name: "crashing", namespace });
    return seen?.status?.phase === "Failed" && seen;
  });
  const message = failed.status?.containerStatuses?.[0]?.state?.terminated?.message ?? "";
  expect(Termination.parse(JSON.parse(message)).reason).toBe("browser_crashed");
});
