/** A node whose pods are processes with real browsers, for the faults that can be done to them from outside. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startLocalKubelet } from "../../../src/local/kubelet/local-kubelet.ts";
import type { Programs } from "../../../src/local/locate-programs.mjs";
import { createLogger } from "../../../src/platform/base/log.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { pods as podType } from "../../../src/platform/kube/resource-type.ts";
import { browserPid } from "../../support/pool-client.ts";
import type { NodeProcess } from "../../support/simulated-node/node-process.ts";
import { choose } from "../../support/simulated-node/switches.ts";
import { realAgentHook } from "./real-agent-hook.ts";

export type RobustNode = Pick<NodeProcess, "turn" | "happen" | "starts" | "stop">;

type ChromiumNodeOptions = {
  kube: Kube;
  namespace: string;
  nodeName: string;
  dataDir: string;
  programs: Programs;
  eventsFile: string;
};

const main = join(import.meta.dirname, "../../../src/main.ts");

/** A pod may end while its browser is looked for. */
const crashTries = 3;

export const startChromiumNode = async (options: ChromiumNodeOptions): Promise<RobustNode> => {
  const { kube, namespace, nodeName, dataDir, programs, eventsFile } = options;
  const hook = realAgentHook(eventsFile);
  const node = await startLocalKubelet({
    kube,
    namespace,
    nodeName,
    dataDir,
    agentCommand: [process.execPath, "--max-semi-space-size=1", ...hook.args, main],
    agentEnv: {
      ...hook.env,
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: join(dataDir, "compile-cache"),
      BROWSERPOOL_CHROMIUM_HEADLESS: programs["chromium-headless-shell"] ?? "",
    },
    log: createLogger("error", "node"),
  });
  const crash = async (uid: string): Promise<void> => {
    for (let tries = 1; tries <= crashTries; tries++) {
      const pid = await browserPid(dataDir, uid).catch(() => undefined);
      if (pid !== undefined) return void process.kill(pid, "SIGKILL");
      await sleep(100);
    }
  };
  return {
    stop: node.stop,
    async happen(which, accident) {
      if (accident !== "crash") throw new Error(`a real agent can't be made to ${accident}`);
      const { items } = await kube.list(podType, { namespace });
      const running = items.filter(({ status }) => status?.phase === "Running");
      const candidates = running.map(({ metadata }) => ({
        uid: metadata.uid ?? "",
        pool: metadata.labels?.["browserpool.dev/pool"],
      }));
      const chosen = choose(candidates, which).map(({ uid }) => uid);
      await Promise.all(chosen.map(crash));
      return chosen;
    },
    turn: () => Promise.reject(new Error("real agents have no switches")),
    starts: () => Promise.reject(new Error("real browsers start as they do")),
  };
};
