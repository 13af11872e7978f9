import { type Draw, drawn } from "../../support/draw.ts";
import type { Phase } from "../lane.ts";
import { beside } from "./beside.ts";
import { console } from "./console.ts";
import { doctor } from "./doctor.ts";
import { drain } from "./drain.ts";
import { endToEnd } from "./end-to-end.ts";
import { helmTest } from "./helm-test.ts";
import { localImage } from "./local-image.ts";
import { memory } from "./memory.ts";
import { network } from "./network.ts";
import { nodeStopped } from "./node-stopped.ts";
import { ownPods } from "./own-pods.ts";
import { podSecurity } from "./pod-security.ts";
import { quotas } from "./quotas.ts";
import { release } from "./release.ts";
import { restore } from "./restore.ts";
import { rights } from "./rights.ts";
import { rollouts } from "./rollouts.ts";
import { sites } from "./sites.ts";
import { uninstall } from "./uninstall.ts";
import { upgrade } from "./upgrade.ts";
import { vault } from "./vault.ts";
import { watch } from "./watch.ts";

/** In the order in which they are done: what disturbs the cluster most comes last. */
export const allPhases: readonly Phase[] = [
  upgrade,
  helmTest,
  doctor,
  rights,
  podSecurity,
  ownPods,
  network,
  memory,
  endToEnd,
  vault,
  beside,
  watch,
  console,
  quotas,
  sites,
  localImage,
  rollouts,
  drain,
  nodeStopped,
  uninstall,
  restore,
  release,
];

/** Those that take a minute or more each, most of which they wait. */
export const slowPhases: readonly Phase[] = [
  upgrade,
  doctor,
  localImage,
  memory,
  sites,
  rollouts,
  nodeStopped,
  uninstall,
  restore,
  release,
];

/**
 * The phases of a run, in their order: those that are named, or else all; of the slow ones only those that are drawn.
 */
export const phasesOf = (only: readonly string[] | undefined, draw: Draw | undefined): Phase[] => {
  if (only) return allPhases.filter(({ name }) => only.includes(name));
  if (!draw) return [...allPhases];
  const names = slowPhases.map(({ name }) => name);
  const chosen = drawn(names, draw);
  return allPhases.filter(({ name }) => !names.includes(name) || chosen.includes(name));
};
