/** The request of `POST /browsers` → the spec of an on-demand browser. */

import { fromWire } from "../../../platform/kinds/wire.ts";
import { notEmpty, withoutUndefined } from "../../../platform/rules/given-fields.ts";
import { type Problem, problemAt, type SpecProblem, wireProblems } from "../../../platform/rules/problem.ts";
import { settingProblems } from "../pools/pool-problems.ts";
import { chooseProfile, profileProblems } from "../settings/pool-profile.ts";
import { mergeTelemetry } from "../settings/telemetry-merge.ts";
import { BrowserSpec } from "./browser.ts";
import { BrowserRequest, type CreateBrowser } from "./browser-wire.ts";

type CreatedBrowser = { ok: true; spec: BrowserSpec } | { ok: false; problems: Problem[] };

/** Largest policy that fits into the object, bytes; pools store larger ones in ConfigMaps (ADR 0009). */
const maxPolicyBytes = 256 * 1024;

const requestProblems = ({ profile, proxy, proxyId, gpu, headless, chromePolicy }: BrowserRequest): SpecProblem[] => [
  ...profileProblems(profile),
  ...(proxy && (proxy.id === undefined) === (proxy.mode === undefined)
    ? [problemAt(["proxy"], "give exactly one of id and mode")]
    : []),
  ...(proxy && proxyId ? [problemAt(["proxyId"], "give only one of proxy and proxy_id")] : []),
  ...(gpu && headless ? [problemAt(["gpu"], "needs a display: not with headless")] : []),
  ...(chromePolicy && Buffer.byteLength(JSON.stringify(chromePolicy)) > maxPolicyBytes
    ? [problemAt(["chromePolicy"], `must not exceed ${maxPolicyBytes / 1024} KiB when serialized`)]
    : []),
];

/** `request`: parsed by `CreateBrowser`, which fills in the defaults. The caller checks the objects that it refers to. */
export const createBrowser = (request: CreateBrowser): CreatedBrowser => {
  const { proxy, ...asked } = fromWire(BrowserRequest, request);
  const merged = mergeTelemetry(undefined, asked.telemetry);
  const choice = asked.profile && chooseProfile(asked.profile);
  const spec: BrowserSpec = withoutUndefined({
    ...asked,
    chromePolicy: notEmpty(asked.chromePolicy),
    extensions: notEmpty(asked.extensions),
    network: notEmpty(asked.network),
    tags: notEmpty(asked.tags),
    startUrl: asked.startUrl || undefined,
    proxyId: proxy?.id || asked.proxyId || undefined,
    profile:
      choice?.kind === "profile" ? { ...choice.profile, saveChanges: asked.profile?.saveChanges ?? false } : undefined,
    telemetry: merged.ok ? merged.telemetry : undefined,
  });
  const problems = [
    ...requestProblems({ ...asked, ...(proxy && { proxy }) }),
    ...settingProblems(spec),
    ...(merged.ok ? [] : merged.problems),
  ];
  return problems.length === 0 ? { ok: true, spec } : { ok: false, problems: wireProblems(BrowserSpec, problems) };
};
