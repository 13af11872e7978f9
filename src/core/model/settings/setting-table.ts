/**
 * What each field of a pool's spec, and each that only an on-demand browser has, is to the rest of the service. A field
 * without a row does not compile; neither does a row that says `own`, `pod` or `as seen` and has no code for it where
 * the columns say.
 *
 *   hashed    a browser is made with it: it is part of the configuration and its hash, and a change makes idle browsers outdated
 *             (browser-config.ts)
 *   patch     what PATCH /browser_pools does with a value (pools/pool-requests.ts): `replaced` takes its place; `clearable`: so does it, and
 *             an empty one takes the old one away; `own`: a rule of its own; `fixed`: it is not taken
 *   agent     how the browser's agent gets it: `pod`: what its pod says of it (browser-config.ts); `setup`: from the API, since it is secret or too large
 *             for a variable (core/setups/read-setup.ts); `no`: others carry it out
 *   answer    in the answer about a session: `as made`: as its browser was made with; `as seen`: what counts for the session by now
 *             (core/sessions/session-answer.ts); `no`
 *   recipe    in a recipe of the config registry (features/sites): `carried`; `unseen`: a site can't notice it; `only`: a session counts for
 *             the registry with this value alone
 */
import { toWire } from "../../../platform/kinds/wire.ts";
import type { BrowserConfig } from "../../protocol/agent-api.ts";
import type { PoolLikeSpec } from "../browsers/on-demand-pool.ts";
import { resolveViewport } from "./browser-settings.ts";
import { startLocation } from "./location.ts";
import { resolveTelemetry, Telemetry } from "./telemetry.ts";

type Row = {
  hashed: boolean;
  patch: "replaced" | "clearable" | "own" | "fixed";
  agent: { pod(spec: PoolLikeSpec): Partial<BrowserConfig> } | "setup" | "no";
  answer: "as made" | "as seen" | "no";
  recipe: "carried" | "unseen" | { only: string | boolean | undefined };
};

/** A field of a pool's spec, or a field that only an on-demand browser has. */
type Field = keyof Required<PoolLikeSpec>;

/** Of what the pool does with its browsers. */
const ofPool = { hashed: false, agent: "no", answer: "no", recipe: "unseen" } as const;

/** What a site could notice, and a recipe has no place for. */
const unset = { only: undefined } as const;

const viewportOf = (spec: PoolLikeSpec): Partial<BrowserConfig> => {
  const { width, height, refreshRate } = resolveViewport(spec.viewport, spec);
  return { viewport: { width, height, ...(refreshRate && { refresh_rate: refreshRate }) } };
};

const telemetryOf = (spec: PoolLikeSpec): Partial<BrowserConfig> => {
  const telemetry = resolveTelemetry(spec.telemetry);
  return telemetry ? { telemetry: toWire(Telemetry, telemetry) } : {};
};

/** The rows, in the order in which answers show them. */
export const settingTable = {
  headless: {
    hashed: true,
    patch: "replaced",
    agent: { pod: ({ headless }) => ({ headless }) },
    answer: "as made",
    recipe: "carried",
  },
  stealth: {
    hashed: true,
    patch: "replaced",
    agent: { pod: ({ stealth }) => (stealth ? { stealth } : {}) },
    answer: "as made",
    recipe: "carried",
  },
  kioskMode: {
    hashed: true,
    patch: "replaced",
    agent: { pod: ({ kioskMode }) => ({ kiosk_mode: kioskMode }) },
    answer: "as made",
    recipe: { only: false },
  },
  gpu: {
    hashed: true,
    patch: "fixed",
    agent: { pod: ({ gpu }) => (gpu ? { gpu } : {}) },
    answer: "as seen",
    recipe: "carried",
  },
  location: {
    hashed: true,
    patch: "fixed",
    agent: { pod: ({ location }) => (location ? { location: startLocation(location) } : {}) },
    answer: "as seen",
    recipe: unset,
  },
  blank: {
    hashed: true,
    patch: "fixed",
    agent: { pod: ({ blank }) => (blank ? { blank } : {}) },
    answer: "no",
    recipe: unset,
  },
  memory: { hashed: true, patch: "replaced", agent: "no", answer: "as made", recipe: { only: "8GiB" } },
  region: { hashed: false, patch: "fixed", agent: "no", answer: "as seen", recipe: "unseen" },
  viewport: { hashed: true, patch: "replaced", agent: { pod: viewportOf }, answer: "as seen", recipe: "carried" },
  startUrl: {
    hashed: true,
    patch: "clearable",
    agent: { pod: ({ startUrl }) => (startUrl ? { start_url: startUrl } : {}) },
    answer: "as seen",
    recipe: "unseen",
  },
  telemetry: { hashed: true, patch: "own", agent: { pod: telemetryOf }, answer: "as seen", recipe: "unseen" },
  // A policy that is stored in ConfigMaps counts by its hash.
  chromePolicy: { hashed: true, patch: "clearable", agent: "setup", answer: "as seen", recipe: unset },
  chromePolicyRef: { hashed: false, patch: "own", agent: "setup", answer: "no", recipe: unset },
  network: { hashed: true, patch: "clearable", agent: "setup", answer: "as seen", recipe: unset },
  extensions: { hashed: true, patch: "clearable", agent: "setup", answer: "no", recipe: unset },
  profile: { hashed: true, patch: "own", agent: "setup", answer: "as seen", recipe: unset },
  savesProfile: { hashed: true, patch: "fixed", agent: "no", answer: "as seen", recipe: "unseen" },
  proxyId: { hashed: true, patch: "clearable", agent: "setup", answer: "as seen", recipe: "carried" },
  timeoutSeconds: { hashed: false, patch: "replaced", agent: "no", answer: "as seen", recipe: "unseen" },
  reportOutcome: { ...ofPool, patch: "fixed" },
  reusePolicy: { ...ofPool, patch: "replaced", recipe: { only: "reset" } },
  maxSessionSeconds: { ...ofPool, patch: "replaced" },
  name: { ...ofPool, patch: "own" },
  size: { ...ofPool, patch: "own" },
  autoscale: { ...ofPool, patch: "own" },
  fillRatePerMinute: { ...ofPool, patch: "replaced" },
  serveOnDemand: { ...ofPool, patch: "replaced" },
  refreshOnProfileUpdate: { ...ofPool, patch: "own" },
  discardIdle: { ...ofPool, patch: "own" },
} as const satisfies Record<Field, Row>;

type Table = typeof settingTable;

/** The fields whose column says this. */
export type SettingsWith<Column extends keyof Row, Value extends Row[Column]> = {
  [Key in keyof Table]: Table[Key][Column] extends Value ? Key : never;
}[keyof Table];

/** The fields whose column says this, in the order of the table. */
export const settingsWith = <const Column extends keyof Row, const Value extends Row[Column]>(
  column: Column,
  value: Value,
): SettingsWith<Column, Value>[] =>
  // Whether a row has the value is what the type asks too.
  Object.entries(settingTable).flatMap(([key, row]) => (row[column] === value ? [key as never] : []));
