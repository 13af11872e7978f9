import type { Phase } from "../lane.ts";
import { drain } from "./drain.ts";
import { endToEnd } from "./end-to-end.ts";
import { helmTest } from "./helm-test.ts";
import { memory } from "./memory.ts";
import { network } from "./network.ts";
import { nodeStopped } from "./node-stopped.ts";
import { ownPods } from "./own-pods.ts";
import { podSecurity } from "./pod-security.ts";
import { registry } from "./registry.ts";
import { rights } from "./rights.ts";
import { rollouts } from "./rollouts.ts";
import { uninstall } from "./uninstall.ts";
import { upgrade } from "./upgrade.ts";
import { vault } from "./vault.ts";
import { watch } from "./watch.ts";

/** In the order in which they are done: what disturbs the cluster most comes last. */
export const allPhases: readonly Phase[] = [
  upgrade,
  helmTest,
  rights,
  podSecurity,
  ownPods,
  network,
  memory,
  endToEnd,
  vault,
  watch,
  registry,
  rollouts,
  drain,
  nodeStopped,
  uninstall,
];
