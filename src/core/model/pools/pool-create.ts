/** The request of `POST /browser_pools` → the spec of a new pool. */

import { fromWire } from "../../../platform/kinds/wire.ts";
import { notEmpty, withoutUndefined } from "../../../platform/rules/given-fields.ts";
import { type Problem, wireProblems } from "../../../platform/rules/problem.ts";
import { chooseProfile, profileProblems } from "../settings/pool-profile.ts";
import { mergeTelemetry } from "../settings/telemetry-merge.ts";
import { askedAutoscale } from "./autoscale/autoscale-problems.ts";
import { BrowserPoolSpec } from "./browser-pool.ts";
import { type CreateBrowserPool, PoolRequest } from "./browser-pool-wire.ts";
import { poolProblems } from "./pool-problems.ts";

type CreatedPool = { ok: true; spec: BrowserPoolSpec } | { ok: false; problems: Problem[] };

const profileOf = (request: PoolRequest): Pick<BrowserPoolSpec, "profile" | "refreshOnProfileUpdate"> => {
  const choice = request.profile && chooseProfile(request.profile);
  if (choice?.kind !== "profile") return {};
  return { profile: choice.profile, refreshOnProfileUpdate: request.refreshOnProfileUpdate ?? true };
};

/**
 * `request`: parsed by `CreateBrowserPool`, which fills in the defaults. A profile turns `refreshOnProfileUpdate` on unless the
 * request sets it (POOL-4). The caller checks the organization's limits.
 */
export const createPool = (request: CreateBrowserPool): CreatedPool => {
  const asked = fromWire(PoolRequest, request);
  const merged = mergeTelemetry(undefined, asked.telemetry);
  const autoscale = askedAutoscale(asked.autoscale);
  const spec: BrowserPoolSpec = withoutUndefined({
    ...asked,
    autoscale: autoscale.given,
    chromePolicy: notEmpty(asked.chromePolicy),
    extensions: notEmpty(asked.extensions),
    network: notEmpty(asked.network),
    startUrl: asked.startUrl || undefined,
    proxyId: asked.proxyId || undefined,
    profile: undefined,
    ...profileOf(asked),
    telemetry: merged.ok ? merged.telemetry : undefined,
  });
  const problems = [
    ...profileProblems(asked.profile),
    ...(autoscale.problems.length > 0 ? autoscale.problems : poolProblems(spec)),
    ...(merged.ok ? [] : merged.problems),
  ];
  return problems.length === 0 ? { ok: true, spec } : { ok: false, problems: wireProblems(BrowserPoolSpec, problems) };
};
