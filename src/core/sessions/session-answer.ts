import type { KeyObject } from "node:crypto";
import { fromWire, snakeCase, toWire, type Wire } from "../../platform/kinds/wire.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type AnyLease, requestOf, type SessionRequest } from "../leases/records.ts";
import type { BrowserPool, BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { allowlistState } from "../model/sessions/allowlist.ts";
import type { Session } from "../model/sessions/session-wire.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";
import { locationAnswer } from "../model/settings/location.ts";
import { type SettingsWith, settingsWith } from "../model/settings/setting-table.ts";
import { mergeTelemetry, Telemetry } from "../model/settings/telemetry.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { listedPolicy } from "../policies/policy-parts.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import { signLiveViewToken, signSessionToken } from "../protocol/session-token.ts";
import { configOf, defaultConfig } from "./session-config.ts";

/** The telemetry settings that a lease was asked for with, if it was. */
const leaseTelemetry = ({ telemetry }: SessionRequest): Telemetry | undefined =>
  // The schema of the request has checked them, and every answer reads them: not again.
  telemetry ? fromWire(Telemetry, telemetry as Wire<Telemetry>) : undefined;

/**
 * The settings that count for a session: the lease's, which were checked at the acquire, on those that its browser was
 * made with. Undefined when nothing is captured.
 */
export const telemetryOf = (config: SessionConfig | undefined, request: SessionRequest): Telemetry | undefined => {
  const current = config?.telemetry && fromWire(Telemetry, config.telemetry);
  const merged = mergeTelemetry(current, leaseTelemetry(request));
  return merged.ok ? merged.telemetry : undefined;
};

/** The same for a lease. */
export const sessionTelemetry = async (
  lease: AnyLease,
  deps: { store: LeaseStore },
): Promise<Telemetry | undefined> => {
  const request = requestOf(lease);
  return telemetryOf(await configOf(lease, request, deps), request);
};

/** What the answer about a session needs. */
export type SessionAnswerDeps = {
  policies: PolicyReader;
  pools: WatchedObjects<BrowserPool>;
  sessionProfile: SessionProfile;
  signingKey: KeyObject;
  store: LeaseStore;
};

/**
 * The profile of a session as answers show it, and whether its browser saves to it; nothing without one, or when it is
 * gone.
 */
export type SessionProfile = (
  lease: AnyLease,
  request: SessionRequest,
  config: SessionConfig | undefined,
) => Promise<Pick<Session, "profile" | "profile_save_changes">>;

type Links = Pick<
  Session,
  "cdp_ws_url" | "webdriver_ws_url" | "base_url" | "browser_live_view_url" | "browser_live_view_read_only_url"
>;

const baseOf = ({ session }: AnyLease, baseUrl: string): string => `${baseUrl}/gateway/${session}`;

const expiryOf = (lease: AnyLease, { max_session_seconds }: SessionRequest): number =>
  Math.floor(lease.created_at / 1000) + max_session_seconds;

const tokenOf = (lease: AnyLease, request: SessionRequest, { signingKey }: { signingKey: KeyObject }): string =>
  signSessionToken(signingKey, { sessionId: lease.session, poolUid: request.pool.uid }, expiryOf(lease, request));

const socketUrl = (base: string, what: "cdp" | "webdriver", jwt: string): string =>
  `${base.replace(/^http/, "ws")}/${what}?jwt=${jwt}`;

/** The URL of a session's CDP, on the address `baseUrl`: the same each time. */
export const cdpUrlOf = (lease: AnyLease, baseUrl: string, deps: { signingKey: KeyObject }): string =>
  socketUrl(baseOf(lease, baseUrl), "cdp", tokenOf(lease, requestOf(lease), deps));

/** The URL of its WebDriver BiDi, in the same way. */
export const bidiUrlOf = (lease: AnyLease, baseUrl: string, deps: { signingKey: KeyObject }): string =>
  socketUrl(baseOf(lease, baseUrl), "webdriver", tokenOf(lease, requestOf(lease), deps));

const linksOf = (lease: AnyLease, request: SessionRequest, baseUrl: string, deps: { signingKey: KeyObject }): Links => {
  const base = baseOf(lease, baseUrl);
  const poolUid = request.pool.uid;
  const expiresAt = expiryOf(lease, request);
  const jwt = tokenOf(lease, request, deps);
  const viewToken = (readOnly: boolean): string =>
    signLiveViewToken(deps.signingKey, { sessionId: lease.session, poolUid, readOnly }, expiresAt);
  return {
    base_url: base,
    cdp_ws_url: socketUrl(base, "cdp", jwt),
    webdriver_ws_url: socketUrl(base, "webdriver", jwt),
    browser_live_view_url: `${base}/live?jwt=${viewToken(false)}`,
    browser_live_view_read_only_url: `${base}/live?jwt=${viewToken(true)}&readOnly=true`,
  };
};

/**
 * The policy that the session's browser was made with. A policy in ConfigMaps can be read only while the pool still
 * refers to it. When it can't be read, the answer leaves it out: an answer without the policy is better than none.
 */
const policyOf = async (
  config: SessionConfig | undefined,
  poolUid: string,
  { pools, policies }: { policies: PolicyReader; pools: WatchedObjects<BrowserPool> },
): Promise<Record<string, unknown> | undefined> => {
  if (!config?.chrome_policy_sha256) return config?.chrome_policy;
  const pool = pools.list().find(({ metadata }) => metadata.uid === poolUid);
  const ref = pool?.spec.chromePolicyRef;
  if (ref?.sha256 !== config.chrome_policy_sha256) return undefined;
  return policies.read(pool?.metadata.namespace ?? "", ref).catch(() => undefined);
};

const time = (ms: number): string => new Date(ms).toISOString();

/** The fields that are set. */
const given = <T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } =>
  // `fromEntries` forgets which fields there are.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")) as never;

/** A pool that is gone, and an on-demand browser, are in the default region. */
const regionOf = (
  { pool: { uid } }: SessionRequest,
  { pools }: { pools: WatchedObjects<BrowserPool> },
): Session["region"] => pools.list().find(({ metadata }) => metadata.uid === uid)?.spec.region ?? "us-east";

const originOf = ({ on_demand, vaults = [], pool }: SessionRequest): Pick<Session, "pool" | "vaults"> =>
  on_demand ? { vaults } : { pool: { id: pool.id, ...given({ name: pool.name }) } };

/**
 * A session as HTTP lists show it: without a large policy, so none is read from ConfigMaps. Else as `sessionAnswer`.
 */
export const listedSessionAnswer = (
  lease: AnyLease,
  baseUrl: string | undefined,
  deps: Omit<SessionAnswerDeps, "policies">,
): Promise<Session> => answerWith(async (config) => listedPolicy(config?.chrome_policy), { lease, baseUrl, deps });

/**
 * An active or ended lease as callers see it. `baseUrl`: the URL by which the caller reached this service; undefined: a
 * caller who may not use the browser, so the answer has no URLs of the session.
 */
export const sessionAnswer = async (
  lease: AnyLease,
  baseUrl: string | undefined,
  deps: SessionAnswerDeps,
): Promise<Session> => answerWith((config, poolUid) => policyOf(config, poolUid, deps), { lease, baseUrl, deps });

type Asked = {
  lease: AnyLease;
  baseUrl: string | undefined;
  deps: Omit<SessionAnswerDeps, "policies">;
};

/** What is known of a session's settings. */
type Known = {
  request: SessionRequest;
  config: SessionConfig | undefined;
  chromePolicy: Record<string, unknown> | undefined;
  profile: Awaited<ReturnType<SessionProfile>>;
  deps: Asked["deps"];
};

/** The settings that count for a session by now, by setting. */
const asSeen: Record<SettingsWith<"answer", "as seen">, (known: Known) => Partial<Session>> = {
  gpu: ({ request }) => ({ gpu: request.gpu ?? false }),
  location({ request, config }) {
    const location = request.changed?.location ?? config?.location;
    return location ? { location: locationAnswer(location) } : {};
  },
  network({ request, config }) {
    const { network } = config ?? {};
    if (!network?.allowed_hosts) return given({ network });
    const kept = request.changed?.allowlist;
    const { allowed_hosts: made, ...rules } = network;
    const hosts = kept ? kept.hosts : made;
    return { network: { ...rules, ...(hosts && { allowed_hosts: hosts }), allowlist_state: allowlistState(kept) } };
  },
  region: ({ request, deps }) => ({ region: regionOf(request, deps) }),
  timeoutSeconds: ({ request }) => ({ timeout_seconds: request.timeout_seconds }),
  viewport: ({ request, config }) => given({ viewport: request.changed?.viewport ?? config?.viewport }),
  chromePolicy: ({ chromePolicy }) => given({ chrome_policy: chromePolicy }),
  proxyId({ request, config }) {
    const id = request.changed?.proxy_id ?? config?.proxy_id;
    return id ? { proxy_id: id, proxy: { id } } : {};
  },
  startUrl: ({ request, config }) => given({ start_url: request.start_url ?? config?.start_url }),
  telemetry({ request, config }) {
    const telemetry = telemetryOf(config, request);
    return telemetry ? { telemetry: toWire(Telemetry, telemetry) } : {};
  },
  profile: ({ profile }) => profile,
  // With the profile.
  savesProfile: () => ({}),
};

type AsMade = Wire<Pick<BrowserPoolSpec, SettingsWith<"answer", "as made">>>;

const asMade = settingsWith("answer", "as made").map((key) => snakeCase(key) as keyof SessionConfig);

/** The settings that are shown as the browser was made with them. */
const asMadeOf = (config: SessionConfig): AsMade =>
  given(Object.fromEntries(asMade.map((key) => [key, config[key]]))) as AsMade;

const answerWith = async (
  policy: (config: SessionConfig | undefined, poolUid: string) => ReturnType<typeof policyOf>,
  { lease, baseUrl, deps }: Asked,
): Promise<Session> => {
  const request = requestOf(lease);
  const config = await configOf(lease, request, deps);
  const chromePolicy = await policy(config, request.pool.uid);
  const profile = await deps.sessionProfile(lease, request, config);
  const known: Known = { request, config, chromePolicy, profile, deps };
  return {
    session_id: lease.session,
    ...(baseUrl !== undefined && linksOf(lease, request, baseUrl, deps)),
    ...(request.asked_at !== undefined && { requested_at: time(request.asked_at) }),
    created_at: time(lease.created_at),
    // The defaults stand for what Redis has lost, and for settings that are newer than the session.
    ...asMadeOf({ ...defaultConfig, ...config }),
    ...Object.assign({}, ...Object.values(asSeen).map((read) => read(known))),
    ...given({ name: request.name, tags: request.tags }),
    ...originOf(request),
    usage: { uptime_ms: Math.max(0, (lease.ended_at ?? Date.now()) - lease.created_at) },
    ...(lease.ended_at && { deleted_at: time(lease.ended_at), end_reason: lease.reason ?? "unknown" }),
  };
};
