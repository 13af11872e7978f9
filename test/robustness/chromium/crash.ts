/** Ends one process of a pod with SIGKILL, by its id from the registers that the node and the agent keep. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { browserPid } from "../../support/pool-client.ts";
import { isAlive } from "../../support/processes.ts";

export type Victim = "chromium" | "agent";

/** The agent leads the process group that the local kubelet has on record for its pod. */
const agentPid = async (dataDir: string, podUid: string): Promise<number> => {
  const entry = await readFile(join(dataDir, "run", `pod-${podUid}.process`), "utf8");
  const [, pid] = /^([1-9]\d+) \d+$/m.exec(entry) ?? [];
  if (!pid) throw new Error(`no agent on record for pod ${podUid}`);
  return Number(pid);
};

/** Finds the process. Rejects when the pod has none any more. */
export const pidOf = (victim: Victim, dataDir: string, podUid: string): Promise<number> =>
  victim === "agent" ? agentPid(dataDir, podUid) : browserPid(dataDir, podUid);

/** Kills it and resolves when it is gone. */
export const killProcess = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGKILL");
  await eventually(`process ${pid} is gone`, async () => !(await isAlive(pid)));
};
