/** What a refused object of each kind says, and what GitOps tools make of that, by their own code. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../../src/cmd/features.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { Condition } from "../../src/platform/kinds/conditions.ts";
import type { AnyKind } from "../../src/platform/kinds/kind.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import type { ResourceType } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects, fluxExpressions, gitOpsHealth, withoutGitOpsHealth } from "../support/gitops-health.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Spec = Record<string, unknown>;
type Seen = KubeObject & { spec?: Spec; status?: { observedGeneration?: number; conditions?: Condition[] } };

const typeOf = (kind: string): ResourceType<Seen> => {
  const found = kinds.find((one: AnyKind) => one.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  const { group, version, plural, namespaced } = found;
  return { group, version, kind, plural, namespaced };
};

const refOf = (kind: string, name: string) =>
  typeOf(kind).namespaced ? { name, namespace: stack.namespace } : { name };

const create = (kind: string, name: string, spec: Spec): Promise<Seen> =>
  stack.kube.create(typeOf(kind), { metadata: refOf(kind, name), spec });

/** With its kind, as tools read it. */
const read = async (kind: string, name: string): Promise<Seen | undefined> => {
  const object = await stack.kube.get(typeOf(kind), refOf(kind, name));
  return object && { ...object, apiVersion: browserPoolKind.group.concat("/", browserPoolKind.version), kind };
};

const conditionOf = ({ status }: Seen, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

const until = (kind: string, name: string, what: string, is: (object: Seen) => boolean): Promise<Seen> =>
  eventually(`${kind} ${name} ${what}`, async () => {
    const object = await read(kind, name);
    return object && is(object) && object;
  });

const isObserved = ({ metadata, status }: Seen): boolean => status?.observedGeneration === metadata.generation;

/** `rival`: the same object under another name is there before. `mend`: a change of the spec that makes it accepted. */
type Refused = { spec: Spec; reason: string; rival?: true; mend?: Spec };

const named: Refused = { spec: { name: "taken" }, reason: "NameTaken", rival: true, mend: { name: "free" } };
const endpoint = "https://otlp.example.com";
const paused = { size: 1, headless: true, fillRatePerMinute: 0 };

/** A refused object of each kind that can be refused. */
const refused: Record<string, Refused> = {
  BrowserPool: {
    spec: { ...paused, profile: { name: "nobody" } },
    reason: "ReferenceNotFound",
    mend: { profile: null },
  },
  Browser: {
    spec: { headless: true, profile: { name: "nobody" } },
    reason: "ReferenceNotFound",
    mend: { profile: null },
  },
  Vault: { spec: { name: "taken" }, reason: "NameTaken", rival: true },
  Credential: {
    ...{
      spec: { name: "taken", domain: "shop.example", secretRef: { name: "shop" } },
      reason: "NameTaken",
      rival: true,
    },
  },
  Profile: named,
  Extension: named,
  TelemetryDestination: { ...named, spec: { name: "taken", endpoint } },
  VaultItem: { spec: { vault: "nowhere", key: "shop", connectionId: "nobody" }, reason: "VaultNotFound" },
  AuthConnection: {
    ...{ spec: { domain: "shop.example", profileName: "alice" }, reason: "ConnectionExists", rival: true },
  },
  Proxy: {
    spec: { type: "custom", custom: { host: "proxy.example", port: 3128, username: "a:b" } },
    reason: "InvalidSpec",
    mend: { custom: { username: "ab" } },
  },
  SiteConfig: { spec: { scope: "host", target: "gitops.example" }, reason: "TargetTaken", rival: true },
};

const nameOf = (kind: string): string => `refused-${kind.toLowerCase()}`;

/** Makes the refused object, and its rival first; returns it once the operator has looked at it. */
const refuse = async (kind: string): Promise<Seen> => {
  const { spec, rival } = refused[kind] ?? { spec: {} };
  if (rival) await create(kind, `older-${kind.toLowerCase()}`, spec);
  await create(kind, nameOf(kind), spec);
  return until(kind, nameOf(kind), "is refused", (object) => conditionOf(object, "Accepted")?.status === "False");
};

/** Changes it so that it is accepted: its spec, or what it stands against. */
const mend = async (kind: string): Promise<void> => {
  const change = refused[kind]?.mend;
  if (change) await stack.kube.patch(typeOf(kind), refOf(kind, nameOf(kind)), { spec: change });
  else if (kind === "VaultItem") await create("Vault", "nowhere", {});
  else await stack.kube.delete(typeOf(kind), refOf(kind, `older-${kind.toLowerCase()}`));
};

const kindsWithConditions = kinds.map(({ kind }) => kind).filter((kind) => kind !== "SiteEvidence");

test("each kind with conditions has a case here, and expressions for Flux", () => {
  const cases = [...Object.keys(refused), "SiteAnalysis"];
  expect(cases.sort()).toEqual([...kindsWithConditions].sort());
  const expressed = fluxExpressions().map(({ kind }) => kind);
  expect([...expressed, "SiteAnalysis"].sort()).toEqual(cases);
});

describe.each(Object.keys(refused))("a refused %s", (kind) => {
  let object: Seen;
  beforeAll(async () => {
    object = await refuse(kind);
  });

  // GITOPS-1, POOL-31
  test("is not Ready and Stalled at its generation, until its spec is accepted", async () => {
    const generation = object.metadata.generation;
    const { reason, message } = conditionOf(object, "Accepted") ?? {};
    const because = { reason: refused[kind]?.reason, observedGeneration: generation };
    expect(object.status).toMatchObject({ observedGeneration: generation });
    expect(conditionOf(object, "Accepted")).toMatchObject({ status: "False", ...because });
    expect(conditionOf(object, "Ready")).toMatchObject({ status: "False", ...because });
    expect(conditionOf(object, "Ready")?.message).toContain(message);
    expect(conditionOf(object, "Stalled")).toMatchObject({ status: "True", ...because, reason, message });
    expect(conditionOf(object, "Reconciling")).toBeUndefined();
    await mend(kind);
    const mended = await until(kind, nameOf(kind), "is accepted", (now) =>
      Boolean(isObserved(now) && conditionOf(now, "Accepted")?.status === "True"),
    );
    expect(conditionOf(mended, "Stalled")).toBeUndefined();
  });

  // GITOPS-1, GITOPS-3
  test.skipIf(withoutGitOpsHealth())("is failed for kstatus and Flux, and degraded for Argo CD", async () => {
    const mended = await read(kind, nameOf(kind));
    const [before, after] = await gitOpsHealth([object, mended ?? {}]);
    const argoMessage = conditionOf(object, "Stalled")?.message;
    expect(before).toEqual({ kstatus: "Failed", flux: "Failed", argo: "Degraded", argoMessage });
    expect([after?.kstatus, after?.flux]).not.toContain("Failed");
    expect(after?.argo).not.toBe("Degraded");
  });
});

// GITOPS-1
test("an analysis that is none is Stalled", async () => {
  const target = { normalized: "https://gitops.example/", host: "gitops.example", domain: "gitops.example" };
  await create("SiteAnalysis", "misnamed", { target, requestedAt: "2026-01-02T03:04:05Z" });
  const failed = await until("SiteAnalysis", "misnamed", "has failed", (now) => Boolean(conditionOf(now, "Stalled")));
  const { reason, message } = conditionOf(failed, "Ready") ?? {};
  expect(conditionOf(failed, "Stalled")).toMatchObject({ status: "True", reason, message });
});

// GITOPS-1
test("a pool that is refused later is Stalled at that generation, and its browsers stay", async () => {
  await create("BrowserPool", "later", paused);
  await until("BrowserPool", "later", "is accepted", (now) => conditionOf(now, "Accepted")?.status === "True");
  await stack.kube.patch(typeOf("BrowserPool"), refOf("BrowserPool", "later"), { spec: { profile: { name: "no" } } });
  const now = await until("BrowserPool", "later", "is refused", (pool) => Boolean(conditionOf(pool, "Stalled")));
  expect(now).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 2, acceptedSize: 1 } });
  expect(now.status?.conditions?.map(({ observedGeneration }) => observedGeneration)).not.toContain(1);
});

/** The same pool with other conditions. */
const withConditions = (pool: Seen, ...shown: string[]): Seen => ({
  ...pool,
  status: {
    ...pool.status,
    conditions: shown.map((text) => {
      const [type = "", status = ""] = text.split("=");
      const rest = { reason: "Filling", message: "1 of 2 browsers up", lastTransitionTime: "2030-01-01T00:00:00Z" };
      return { type, status: status as Condition["status"], ...rest };
    }),
  },
});

describe.skipIf(withoutGitOpsHealth())("a pool", () => {
  // GITOPS-2, GITOPS-3
  test("is in progress until it is filled, and then current and healthy; a paused one waits for somebody", async () => {
    await create("BrowserPool", "paused", paused);
    await create("BrowserPool", "filled", { size: 1, headless: true, fillRatePerMinute: 6000 });
    const told = (now: Seen): boolean => isObserved(now) && conditionOf(now, "Ready")?.reason === "Filling";
    const waiting = await until("BrowserPool", "paused", "is looked at", told);
    const filled = await until(
      "BrowserPool",
      "filled",
      "is ready",
      (now) => conditionOf(now, "Ready")?.status === "True",
    );
    const { status: _, ...unseen } = filled;
    const changed = { ...filled, metadata: { ...filled.metadata, generation: 2 } };
    const fills = withConditions(filled, "Accepted=True", "Ready=False", "Progressing=True", "Reconciling=True");
    const grows = withConditions(filled, "Accepted=True", "Ready=True", "Progressing=True");
    const deleted = { ...filled, metadata: { ...filled.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };
    const says = await gitOpsHealth([waiting, filled, unseen, changed, fills, grows, deleted]);
    expect(says.map(({ kstatus, flux, argo }) => [kstatus, flux, argo])).toEqual([
      ["InProgress", "InProgress", "Suspended"],
      ["Current", "Current", "Healthy"],
      // What kstatus says of every object without a status; Flux goes on waiting.
      ["Current", "Unknown", "Progressing"],
      ["InProgress", "InProgress", "Progressing"],
      ["InProgress", "InProgress", "Progressing"],
      ["Current", "Current", "Healthy"],
      ["Terminating", "Current", "Progressing"],
    ]);
    await stack.kernel.browserPools.delete("filled", { force: true });
  });
});

// GITOPS-3
test("the API server takes the objects of the examples that are ours", async () => {
  const files = ["project.yaml", "flux.yaml", "argocd-app.yaml", "argocd-cm.yaml", "api-key.yaml"];
  const objects = files.flatMap(exampleObjects);
  for (const { apiVersion, kind, metadata } of objects)
    expect([apiVersion, kind, metadata.name]).not.toContain(undefined);
  const ours = objects.filter(({ apiVersion }) => apiVersion?.startsWith(`${browserPoolKind.group}/`)) as Seen[];
  expect(ours.map(({ kind }) => kind)).toEqual(["BrowserPool"]);
  for (const { kind = "", metadata, spec = {} } of ours) {
    const { annotations = {}, name } = metadata;
    await stack.kube.create(typeOf(kind), { metadata: { ...refOf(kind, name), annotations }, spec });
    await until(kind, name, "is accepted", (now) => conditionOf(now, "Accepted")?.status === "True");
    await stack.kube.delete(typeOf(kind), refOf(kind, name));
  }
});
