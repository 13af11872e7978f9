/**
 * What requests of on-demand browsers ask for: the spec of a new one, and the changes of a running one (BROWSER-24 to
 * BROWSER-27).
 */

import type { Selector } from "../../../platform/kinds/selector.ts";
import { fromWire, type Wire } from "../../../platform/kinds/wire.ts";
import { notEmpty, withoutUndefined } from "../../../platform/rules/given-fields.ts";
import { type Problem, problemAt, type SpecProblem, wireProblems } from "../../../platform/rules/problem.ts";
import { settingProblems } from "../pools/pool-problems.ts";
import type { NetworkChange } from "../sessions/allowlist.ts";
import { chooseProfile, profileProblems, resolveViewport, type Viewport } from "../settings/browser-settings.ts";
import { type LocationChange, locationProblems } from "../settings/location.ts";
import { mergeTelemetry } from "../settings/telemetry.ts";
import { BrowserSpec } from "./browser.ts";
import { BrowserRequest, type CreateBrowser, type UpdateBrowser } from "./browser-wire.ts";

// The request of `POST /browsers` → the spec of an on-demand browser.

type NewBrowserSpec = { ok: true; spec: BrowserSpec } | { ok: false; problems: Problem[] };

/** Largest policy that fits into the object, bytes; pools store larger ones in ConfigMaps (ADR 0009). */
const maxPolicyBytes = 256 * 1024;

const proxyProblems = (proxy: BrowserRequest["proxy"], hasProxyId: boolean): Problem[] => [
  ...(proxy && (proxy.id === undefined) === (proxy.mode === undefined)
    ? [{ path: "proxy", message: "give exactly one of id and mode" }]
    : []),
  ...(proxy && hasProxyId ? [{ path: "proxy_id", message: "give only one of proxy and proxy_id" }] : []),
];

const requestProblems = ({ profile, gpu, headless, chromePolicy }: BrowserRequest): SpecProblem[] => [
  ...profileProblems(profile),
  ...(gpu && headless ? [problemAt(["gpu"], "needs a display: not with headless")] : []),
  ...(chromePolicy && Buffer.byteLength(JSON.stringify(chromePolicy)) > maxPolicyBytes
    ? [problemAt(["chromePolicy"], `must not exceed ${maxPolicyBytes / 1024} KiB when serialized`)]
    : []),
];

/**
 * `request`: parsed by `CreateBrowser`, which fills in the defaults. The caller checks the objects that it refers to.
 */
export const newBrowserSpec = (request: CreateBrowser): NewBrowserSpec => {
  const { proxy, ...asked } = fromWire(BrowserRequest, request);
  const merged = mergeTelemetry(undefined, asked.telemetry);
  const choice = asked.profile && chooseProfile(asked.profile);
  const spec: BrowserSpec = withoutUndefined({
    ...asked,
    chromePolicy: notEmpty(asked.chromePolicy),
    extensions: notEmpty(asked.extensions),
    network: notEmpty(asked.network),
    location: notEmpty(asked.location),
    tags: notEmpty(asked.tags),
    startUrl: asked.startUrl || undefined,
    proxyId: proxy?.id || asked.proxyId || undefined,
    profile:
      choice?.kind === "profile" ? { ...choice.profile, saveChanges: asked.profile?.saveChanges ?? false } : undefined,
    telemetry: merged.ok ? merged.telemetry : undefined,
  });
  const problems = [...requestProblems(asked), ...settingProblems(spec), ...(merged.ok ? [] : merged.problems)];
  const all = [...proxyProblems(proxy, Boolean(asked.proxyId)), ...wireProblems(BrowserSpec, problems)];
  return all.length === 0 ? { ok: true, spec } : { ok: false, problems: all };
};

/** `proxyId`: empty to take the proxy away. */
export type RunningChange = {
  viewport?: Required<Wire<Viewport>>;
  profile?: Selector;
  proxyId?: string;
  location?: LocationChange;
  network?: NetworkChange;
  /** Opened once all else has changed. */
  startUrl?: string;
  timeoutSeconds?: number;
};

type UpdatedBrowser = { ok: true; change: RunningChange | undefined } | { ok: false; problems: Problem[] };

const profileToLoadProblems = ({ profile }: UpdateBrowser): Problem[] => {
  if (!profile) return [];
  if (profile.save_changes)
    return [{ path: "profile.save_changes", message: "give it when the browser is created, not while it runs" }];
  return chooseProfile(profile).kind === "profile"
    ? []
    : [
        {
          path: "profile",
          message: "give exactly one of id and name; a running browser keeps the profile that it has",
        },
      ];
};

const problemsOf = (request: UpdateBrowser): Problem[] => [
  ...profileToLoadProblems(request),
  ...wireProblems(BrowserSpec, locationProblems(request.location)),
  ...proxyProblems(request.proxy, request.proxy_id !== undefined),
];

/** The proxy's id, empty for none; undefined when neither field is given. */
const proxyIdOf = ({ proxy, proxy_id: proxyId }: UpdateBrowser): string | undefined =>
  proxy ? (proxy.id ?? "") : proxyId === undefined ? undefined : (proxyId ?? "");

const viewportOf = (viewport: UpdateBrowser["viewport"], gpu: boolean): RunningChange["viewport"] => {
  if (!viewport) return undefined;
  const { width, height, refreshRate } = resolveViewport(
    { width: viewport.width, height: viewport.height, refreshRate: viewport.refresh_rate },
    { gpu },
  );
  return { width, height, refresh_rate: refreshRate };
};

/** `gpu`: whether the browser has one. The caller checks the objects that are named. */
export const updateOf = (request: UpdateBrowser, { gpu = false }: { gpu?: boolean | undefined }): UpdatedBrowser => {
  const problems = problemsOf(request);
  if (problems.length > 0) return { ok: false, problems };
  const { viewport, profile, timeout_seconds: timeoutSeconds } = request;
  const location = notEmpty(request.location);
  const network = request.network?.allowed_hosts === undefined ? undefined : request.network;
  const proxyId = proxyIdOf(request);
  const startUrl = request.start_url || undefined;
  if ([viewport, profile, proxyId, location, network, startUrl, timeoutSeconds].every((value) => value === undefined))
    return { ok: true, change: undefined };
  const choice = profile && chooseProfile(profile);
  const change = withoutUndefined({
    viewport: viewportOf(viewport, gpu),
    profile: choice?.kind === "profile" ? choice.profile : undefined,
    proxyId,
    location,
    network,
    startUrl,
    timeoutSeconds,
  });
  return { ok: true, change };
};
