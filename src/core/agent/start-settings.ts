/**
 * What Chromium is started with: the settings of its pod, the setup that the API has sent, and what its present holder
 * has changed.
 */
import { isDeepStrictEqual } from "node:util";
import type { AgentLocation, AgentViewport } from "../protocol/agent-api.ts";
import type { BrowserChange } from "../protocol/browser-change.ts";
import { BrowserSetup, type NetworkSetup, type ParentProxy } from "../protocol/browser-setup.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import { policiesOf } from "./policy-files.ts";
import type { ReceivedSetup } from "./receive-setup.ts";

export type StartSettings = {
  viewport: AgentViewport;
  received: ReceivedSetup | undefined;
  location: AgentLocation | undefined;
  /** The profile that its holder has loaded. */
  loaded?: BrowserChange["profile"];
};

/** What a holder changes. */
export type WantedChange = Pick<BrowserChange, "viewport" | "proxy" | "profile" | "location" | "allowed_hosts">;

const allTraffic = (network: NetworkSetup | undefined, proxy: ParentProxy | null): NetworkSetup => {
  const { proxy: _, proxies = [], routes = [], ...rules } = network ?? {};
  const ofRoutes = proxies.filter(({ id }) => id !== proxy?.id && routes.some((route) => route.proxy === id));
  return { ...rules, routes, proxies: [...ofRoutes, ...(proxy ? [proxy] : [])], ...(proxy && { proxy: proxy.id }) };
};

const allowing = ({ allowed_hosts: _, ...network }: NetworkSetup, hosts: string[] | null): NetworkSetup => ({
  ...network,
  ...(hosts && { allowed_hosts: hosts }),
});

const setupAfter = (setup: BrowserSetup, { proxy, profile, allowed_hosts: hosts }: WantedChange): BrowserSetup => {
  // Without a wall there is no proxy to take away.
  const routed =
    proxy === undefined || (proxy === null && !setup.network) ? setup.network : allTraffic(setup.network, proxy);
  const network = hosts === undefined || !routed ? routed : allowing(routed, hosts);
  return { ...setup, ...(network && { network }), ...(profile?.archive && { profile: profile.archive }) };
};

/** `before` with this change. `archives`: the change's. */
export const settingsAfter = (before: StartSettings, wanted: WantedChange, archives: ArchiveFolder): StartSettings => {
  const { viewport = before.viewport, location = before.location, proxy, profile, allowed_hosts } = wanted;
  const loaded = profile ?? before.loaded;
  const made = { viewport, location, ...(loaded && { loaded }) };
  if ([proxy, profile, allowed_hosts].every((part) => part === undefined))
    return { ...made, received: before.received };
  const setup = setupAfter(before.received?.setup ?? BrowserSetup.parse({}), wanted);
  const former = before.received;
  const archive: ReceivedSetup["archive"] = (ref) =>
    former && !archives.has(ref.sha256) ? former.archive(ref) : archives.file(ref);
  return { ...made, received: { setup, archive } };
};

/** Whether `wanted` gives a profile to a browser that has another one. */
export const hasOtherProfile = ({ received, loaded }: StartSettings, { profile }: WantedChange): boolean => {
  if (!profile) return false;
  if (loaded) return !isDeepStrictEqual(loaded, profile);
  return received?.setup.profile !== undefined;
};

const authoritiesOf = (setup: BrowserSetup | undefined): unknown[] => {
  const { CACertificates: all } = (setup && policiesOf(setup)) ?? {};
  return Array.isArray(all) ? all : [];
};

/**
 * Whether Chromium must start anew for a change: a profile is its folder, a wall is around its first process, and it
 * reads its locale, its time zone and whom it trusts when it starts. `running`: what the present Chromium was started with, and changed to.
 */
export const needsStart = (before: StartSettings, after: StartSettings, running: BrowserSetup | undefined): boolean => {
  if (!isDeepStrictEqual([before.loaded, before.location], [after.loaded, after.location])) return true;
  const [had, has] = [before.received?.setup, after.received?.setup];
  if (!had?.network && has?.network) return true;
  const trusted = authoritiesOf(running);
  return authoritiesOf(has).some((one) => !trusted.includes(one));
};
