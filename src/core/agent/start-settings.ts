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
export type WantedChange = Pick<BrowserChange, "viewport" | "proxy" | "profile" | "location" | "allowed_hosts"> & {
  /** Loaded besides those that are there. */
  extensions?: BrowserSetup["extensions"];
};

const allTraffic = (network: NetworkSetup | undefined, proxy: ParentProxy | null): NetworkSetup => {
  const { proxy: _, proxies = [], routes = [], ...rules } = network ?? {};
  const ofRoutes = proxies.filter(({ id }) => id !== proxy?.id && routes.some((route) => route.proxy === id));
  return { ...rules, routes, proxies: [...ofRoutes, ...(proxy ? [proxy] : [])], ...(proxy && { proxy: proxy.id }) };
};

const allowing = ({ allowed_hosts: _, ...network }: NetworkSetup, hosts: string[] | null): NetworkSetup => ({
  ...network,
  ...(hosts && { allowed_hosts: hosts }),
});

const networkAfter = (
  network: NetworkSetup | undefined,
  { proxy, allowed_hosts: hosts }: WantedChange,
): NetworkSetup | undefined => {
  // Without a wall there is no proxy to take away.
  const routed = proxy === undefined || (proxy === null && !network) ? network : allTraffic(network, proxy);
  return hosts === undefined || !routed ? routed : allowing(routed, hosts);
};

const setupAfter = (setup: BrowserSetup, wanted: WantedChange): BrowserSetup => {
  const network = networkAfter(setup.network, wanted);
  return {
    ...setup,
    extensions: [...setup.extensions, ...(wanted.extensions ?? [])],
    ...(network && { network }),
    ...(wanted.profile?.archive && { profile: wanted.profile.archive }),
  };
};

/** `before` with this change. `archives`: the change's. */
export const settingsAfter = (
  before: StartSettings,
  wanted: WantedChange,
  archives: Pick<ArchiveFolder, "has" | "file">,
): StartSettings => {
  const { viewport = before.viewport, location = before.location, profile } = wanted;
  const loaded = profile ?? before.loaded;
  const made = { viewport, location, ...(loaded && { loaded }) };
  if ([wanted.proxy, profile, wanted.allowed_hosts, wanted.extensions].every((part) => part === undefined))
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

/** The extensions that `after` has more. */
export const addedExtensions = (before: StartSettings, after: StartSettings): BrowserSetup["extensions"] =>
  after.received?.setup.extensions.slice(before.received?.setup.extensions.length ?? 0) ?? [];

const authoritiesOf = (setup: BrowserSetup | undefined): unknown[] => {
  const { CACertificates: all } = (setup && policiesOf(setup)) ?? {};
  return Array.isArray(all) ? all : [];
};

/**
/**
 * Whether Chromium must start anew for a change: a profile is its folder, a wall is around its first process, it reads
 * its locale, its time zone and whom it trusts when it starts, and the headless shell knows no extensions. `running`:
 * what the present Chromium was started with, and changed to.
 */
export const needsStart = (
  before: StartSettings,
  after: StartSettings,
  { startedWith: running, isShell }: { startedWith: BrowserSetup | undefined; isShell: boolean },
): boolean => {
  if (!isDeepStrictEqual([before.loaded, before.location], [after.loaded, after.location])) return true;
  if (isShell && addedExtensions(before, after).length > 0) return true;
  const [had, has] = [before.received?.setup, after.received?.setup];
  if (!had?.network && has?.network) return true;
  const trusted = authoritiesOf(running);
  return authoritiesOf(has).some((one) => !trusted.includes(one));
};
