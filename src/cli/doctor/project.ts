/** What `browserpool doctor --cluster` reads of a project: whether its pools are filled, and its quotas. */
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";
import { type Check, firstOf, ok, problem, warning } from "./finding.ts";
import type { Installation } from "./installation.ts";

/** What is read of a pool. */
type Pool = KubeObject & {
  spec: { size?: number };
  status?: {
    available?: number;
    acquired?: number;
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
};
const browserPools: ResourceType<Pool> = {
  group: "browserpool.dev",
  version: "v1alpha1",
  kind: "BrowserPool",
  plural: "browserpools",
  namespaced: true,
};

/** What the cluster says when it keeps a browser from starting, and the way out. */
const causes: readonly (readonly [RegExp, string])[] = [
  [
    /usable sandbox/i,
    "the nodes' kernel, AppArmor or seccomp profile keeps Chromium from namespaces of its own: docs/install.md, “User namespaces”",
  ],
  [/seccomp/i, "the seccomp profile is not on that node: set browsers.seccomp.installer.enabled, or docs/install.md"],
  [/exceeded quota/i, "raise the ResourceQuota that the message names, or make the pools smaller"],
  [/ImagePull|pull (access|image)/i, "check browsers.image, and that imagePullSecrets names a Secret that is there"],
  [/violates PodSecurity/i, "a value of browsers.* asks for more than Pod Security restricted allows"],
  [/denied/i, "an admission webhook changes browsers' pods: docs/runbook.md, “BrowserpoolStartsFail”"],
  [
    /nodes are available|didn't match|Insufficient/i,
    "add nodes, or make the requests of browsers.resources and browsers.memory smaller: docs/sizing.md",
  ],
];

/** The way out of what keeps browsers from starting, by the words of the cluster. */
export const wayOutOf = (says: string): string =>
  causes.find(([words]) => words.test(says))?.[1] ?? "kubectl describe bp, and the operator's log: docs/runbook.md";

/** Reasons of `Progressing` by which a pool does what it should. */
const onItsWay = new Set(["Filling", "Recovering", "Draining", "Paused", "WaitingForSetup"]);

/** Why a pool is not filled, as its status says; undefined when nothing is in its way, or nothing is known yet. */
const complaintOf = ({ metadata, status: { conditions = [] } = {} }: Pool): string | undefined => {
  const [ready, progressing] = ["Ready", "Progressing"].map((wanted) => conditions.find(({ type }) => type === wanted));
  if (ready?.status !== "False" || !progressing || onItsWay.has(progressing.reason)) return undefined;
  return `${metadata.name}: ${progressing.reason}: ${progressing.message}`;
};

/** Fewer than all browsers may be on their way; none at all is a problem. */
const pools = (kube: Kube, { projectNamespace }: Installation): Check => ({
  name: "pools",
  async find() {
    const { items } = await kube.list(browserPools, { namespace: projectNamespace });
    const waiting = items.filter((pool) => complaintOf(pool) !== undefined);
    const empty = waiting.filter(({ spec, status }) => (spec.size ?? 1) > 0 && !status?.available && !status?.acquired);
    const says = firstOf((empty.length > 0 ? empty : waiting).map((pool) => complaintOf(pool) ?? ""));
    if (empty.length > 0) return problem(says, wayOutOf(says));
    if (waiting.length > 0) return warning(says, wayOutOf(says));
    return ok(`${items.length} ready`);
  },
});

type Quota = KubeObject & {
  spec?: { hard: Record<string, string> };
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
};
/** As `kubectl get resourcequotas`. */
export const quotas: ResourceType<Quota> = {
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};

/** What of a quota is used up. Amounts are compared as the quota's status writes both: in the same unit where they are full. */
const fullIn = ({ metadata, status }: Quota): string[] =>
  Object.entries(status?.hard ?? {})
    .filter(([name, hard]) => hard !== "0" && status?.used?.[name] === hard)
    .map(([name, hard]) => `${metadata.name}: all ${hard} of ${name} are used`);

const quotaCheck = (kube: Kube, { projectNamespace }: Installation): Check => ({
  name: "quotas",
  async find() {
    const { items } = await kube.list(quotas, { namespace: projectNamespace });
    const full = items.flatMap(fullIn);
    if (full.length > 0) return warning(firstOf(full), wayOutOf("exceeded quota"));
    return ok(items.length === 0 ? "none" : `${items.length} with room`);
  },
});

/** The checks of the project that the doctor looks at. */
export const projectChecks = (kube: Kube, place: Installation): Check[] => [
  pools(kube, place),
  quotaCheck(kube, place),
];
