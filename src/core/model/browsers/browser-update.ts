/** The request of `PATCH /browsers/{id_or_name}` → what changes in a running browser (BROWSER-24 to BROWSER-27). */

import type { Selector } from "../../../platform/kinds/selector.ts";
import type { Wire } from "../../../platform/kinds/wire.ts";
import { withoutUndefined } from "../../../platform/rules/given-fields.ts";
import type { Problem } from "../../../platform/rules/problem.ts";
import type { Viewport } from "../settings/browser-settings.ts";
import { chooseProfile } from "../settings/pool-profile.ts";
import { resolveViewport } from "../settings/viewport.ts";
import type { UpdateBrowser } from "./browser-wire.ts";

/** `proxyId`: empty to take the proxy away. */
export type RunningChange = { viewport?: Required<Wire<Viewport>>; profile?: Selector; proxyId?: string };

type UpdatedBrowser = { ok: true; change: RunningChange | undefined } | { ok: false; problems: Problem[] };

const problemsOf = ({ profile }: UpdateBrowser): Problem[] => {
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
  const { viewport, profile, proxy_id: proxyId } = request;
  if (viewport === undefined && profile === undefined && proxyId === undefined) return { ok: true, change: undefined };
  const choice = profile && chooseProfile(profile);
  const change = withoutUndefined({
    viewport: viewportOf(viewport, gpu),
    profile: choice?.kind === "profile" ? choice.profile : undefined,
    proxyId: proxyId === undefined ? undefined : (proxyId ?? ""),
  });
  return { ok: true, change };
};
