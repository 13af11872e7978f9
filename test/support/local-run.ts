/**
 * A small run of local mode, for tests that kill it: locks the data directory, starts what `browserpool local` starts
 * and one pod of the fake agent, and prints "running" when that pod is ready. Arguments: data directory, behaviour of
 * the fake agent.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { lockDataDir } from "../../src/local/data-dir-lock.ts";
import { startLocalKubelet } from "../../src/local/kubelet/local-kubelet.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube } from "../../src/platform/kube/client.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { agentPod } from "./agent-pod.ts";

const [dataDir = "", behaviour = ""] = process.argv.slice(2);
const log = createLogger("warn", "local-run");
const programs = locatePrograms(process.env);
const ref = { namespace: "default", name: "browser" };

await lockDataDir(dataDir);
const { kubeconfigPath } = await startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });
await startRedis({ dataDir, programs, log });
const kube = connectKube({ kubeconfigPath });
await startLocalKubelet({
  kube,
  dataDir,
  agentCommand: [process.execPath, join(import.meta.dirname, "fake-agent.ts")],
  agentEnv: {},
  log,
});
await kube.create(pods, agentPod({ ...ref, args: [behaviour] }));
const isReady = async (): Promise<boolean> =>
  (await kube.get(pods, ref))?.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;
while (!(await isReady())) await sleep(50);
process.stdout.write("running\n");
