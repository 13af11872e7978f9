import fc from "fast-check";
import { kinds } from "../../../src/cmd/features.ts";
import type { Browser } from "../../../src/core/model/browsers/browser.ts";
import type { BrowserPool } from "../../../src/core/model/pools/browser-pool.ts";
import { browserPoolAnswer } from "../../../src/core/model/pools/pool-answer.ts";
import { agentConfigOf, configHash } from "../../../src/core/model/settings/browser-config.ts";
import { refusalOf } from "../../../src/core/pools/observe/refusal.ts";
import { onDemandView } from "../../../src/core/pools/on-demand/browser-as-pool.ts";
import { planPool } from "../../../src/core/pools/plan/plan.ts";
import { buildPod, type PodOwner } from "../../../src/core/pools/pod/pod.ts";
import { extensionStatus } from "../../../src/features/extensions/status.ts";
import { profileStatus } from "../../../src/features/profiles/status.ts";
import { proxyStatus } from "../../../src/features/proxies/status.ts";
import { siteConfigStatus } from "../../../src/features/sites/configs/status.ts";
import { destinationStatus } from "../../../src/features/telemetry/destinations/status.ts";
import { authConnectionStatus } from "../../../src/features/vaults/connections/status.ts";
import { credentialStatus } from "../../../src/features/vaults/credentials/status.ts";
import { itemStatus } from "../../../src/features/vaults/items/status.ts";
import { vaultStatus } from "../../../src/features/vaults/status.ts";
import { createNetworkFilter } from "../../../src/platform/addresses/network-filter.ts";
import { structuralSchema } from "../../../src/platform/kinds/crd.ts";
import type { AnyKind } from "../../../src/platform/kinds/kind.ts";
import { anObserved, nowMs, type PodKind, podKinds, podsOf } from "../../support/observed-pool.ts";
import { fromSchema } from "../inputs/from-schema.ts";
import { anyJson, type Json } from "../inputs/mutated-json.ts";
import { type FuzzTarget, must } from "../target.ts";

type Schema = { [key: string]: unknown };

/**
 * As the API server stores a value: a field that is left out has its default, also inside of defaults and lists; one
 * that the schema does not have is dropped, and so is an entry of a map that is null and may not be.
 */
const asStored = (schema: Schema, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => asStored((schema.items ?? {}) as Schema, one));
  if (typeof value !== "object" || value === null || schema["x-kubernetes-preserve-unknown-fields"] === true)
    return value;
  const fields = (schema.properties ?? {}) as Record<string, Schema>;
  const others = schema.additionalProperties as Schema | undefined;
  const given = Object.entries(value as Record<string, unknown>).filter(
    ([name, one]) =>
      Object.hasOwn(fields, name) || (others !== undefined && (one !== null || others.nullable === true)),
  );
  const missing = Object.entries(fields).flatMap(([name, field]) =>
    !Object.hasOwn(value, name) && field.default !== undefined ? [[name, field.default] as const] : [],
  );
  return Object.fromEntries(
    [...given, ...missing].map(([name, one]) => {
      const inner = Object.hasOwn(fields, name) ? fields[name] : others;
      return [name, asStored((inner ?? {}) as Schema, one)];
    }),
  );
};

/** Specs of a kind, and statuses, that its CRD lets through but for its CEL rules; as the API server stores them. */
export const partsOf = (kind: AnyKind) => {
  const [spec, status] = [structuralSchema(kind.spec, "spec"), structuralSchema(kind.status, "status")];
  return fc.record({
    kind: fc.constant(kind.kind),
    spec: fromSchema(spec).map((value) => asStored(spec, value) as Json),
    status: fc.option(
      fromSchema(status).map((value) => asStored(status, value) as Json),
      { nil: undefined },
    ),
  });
};

/** An object of a kind, and what else a round of its controller sees. */
type Input = {
  kind: string;
  spec: Json;
  status: Json | undefined;
  isHolder: boolean;
  generation: number | undefined;
  pods: PodKind[];
  annotations: { [name: string]: string } | undefined;
};

const inputs: fc.Arbitrary<Input> = fc
  .tuple(
    fc.oneof(...kinds.map(partsOf)),
    fc.record({
      isHolder: fc.boolean(),
      generation: fc.constantFrom(undefined, 1, 7),
      pods: fc.array(fc.constantFrom(...(Object.keys(podKinds) as PodKind[])), { maxLength: 4 }),
      annotations: fc.option(
        fc.dictionary(
          fc.constantFrom(
            "browserpool.dev/checked-at",
            "browserpool.dev/last-check",
            "browserpool.dev/force-delete",
            "browserpool.dev/hidden",
          ),
          anyJson.map((json) => JSON.stringify(json)),
          { maxKeys: 3 },
        ),
        { nil: undefined },
      ),
    }),
  )
  .map(([one, more]) => ({ ...one, ...more }));

const use = {
  cap: undefined,
  inProject: { pooled: 0, onDemand: 0 },
  onDemandInAll: 0,
  limits: { pooledSessions: 10, onDemandSessions: 2, projectOnDemandSessions: 1 },
};
const settings = { image: "browser:1", agentPublicKey: "key", template: undefined };
const filter = createNetworkFilter({});

const planOf = (pool: BrowserPool, pods: PodKind[]): unknown => {
  const limits = { pooledSessions: 10, blankBrowsers: 10, fillRatePerMinute: 25 };
  const refusal = refusalOf({ pool, pools: [pool], acceptedSizes: new Map(), limits, use, objects: {}, features: [] });
  const hash = configHash(pool.spec);
  agentConfigOf(pool.spec);
  JSON.stringify(
    buildPod({ apiVersion: "v", kind: "BrowserPool", ...pool } as PodOwner, { suffix: "abcdefgh" }, settings),
  );
  return planPool(anObserved({ pool, pods: podsOf(...pods), refusal, configHash: hash }), nowMs).status;
};

type Round = (object: never, holder: never, input: Pick<Input, "pods">) => unknown;

/** The pure part of a round, by kind: it gives the next status, which the API server must take. */
export const rounds: Record<string, Round> = {
  BrowserPool: (pool: BrowserPool, _holder, { pods }) => {
    browserPoolAnswer(pool, { acquired: 0, available: 0 }, { profileId: undefined, extensionIds: [] } as never);
    return planOf(pool, pods);
  },
  Browser: (browser: Browser, _holder, { pods }) => {
    planOf(onDemandView.toPool(browser), pods);
    return undefined;
  },
  Vault: (vault, holder) => vaultStatus(vault, { holder, nowMs }),
  VaultItem: (item, holder) =>
    itemStatus({ item, hasVault: true, holder, connection: undefined, source: { is: "none" } as never, nowMs }),
  Credential: (credential, holder) => credentialStatus(credential, { holder, nowMs }),
  AuthConnection: (connection, holder) =>
    authConnectionStatus({ connection, holder, source: { is: "none" } as never, nowMs }),
  Proxy: (proxy) => proxyStatus(proxy, { provider: {}, nowMs }),
  TelemetryDestination: (destination, holder) => destinationStatus(destination, { holder, filter, nowMs }),
  Profile: (profile, holder) => profileStatus(profile, { holder, nowMs }),
  Extension: (extension, holder) => extensionStatus(extension, { holder, isStored: true, nowMs }),
  SiteConfig: (config, holder) => siteConfigStatus(config, { holder, rules: { minTrials: 3, minRate: 0.8 }, nowMs }),
};

const kindOf = new Map(kinds.map((kind) => [kind.kind, kind]));

const check = (input: Input): void => {
  const { kind, spec, status, isHolder, generation, annotations } = input;
  const round = rounds[kind];
  const metadata = {
    name: "one",
    namespace: "p",
    uid: "one",
    resourceVersion: "1",
    creationTimestamp: "2030-01-01T00:00:00Z",
    ...(generation !== undefined && { generation }),
    ...(annotations && { annotations }),
  };
  const object = { metadata, spec, ...(status !== undefined && { status }) };
  const holder = isHolder ? object : { ...object, metadata: { ...metadata, name: "other", uid: "other" } };
  const next = round?.(object as never, holder as never, input);
  if (next === undefined) return;
  const { error } = (kindOf.get(kind) as AnyKind).status.safeParse(JSON.parse(JSON.stringify(next)));
  must(
    !error,
    `the API server refuses the status of a ${kind}: ${error?.issues
      .map((issue) => `${issue.path.join(".")} ${issue.message}`)
      .join("; ")
      .slice(0, 300)}`,
  );
};

export const target: FuzzTarget<Input> = {
  about:
    "Objects of every kind that their CRD lets through, with any status: the pure parts of the controllers' rounds take them, and make a status that the CRD lets through.",
  inputs,
  open: () => ({ check }),
};
