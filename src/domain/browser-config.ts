import type { BrowserConfig } from "../protocol/agent-api.ts";
import { BrowserPoolSpec } from "../resources/browser-pool.ts";
import { toWire, type Wire } from "../resources/wire.ts";
import { stableHash } from "./stable-hash.ts";
import { resolveTelemetry } from "./telemetry-merge.ts";
import { resolveViewport } from "./viewport.ts";

/** The fields of a pool's spec that configure a browser; a change of one of them makes idle browsers outdated. */
const browserFields = [
  "headless",
  "stealth",
  "kioskMode",
  "memory",
  "viewport",
  "startUrl",
  "proxyId",
  "profile",
  "extensions",
  "chromePolicy",
  "network",
  "telemetry",
] as const;

type BrowserFields = Pick<BrowserPoolSpec, (typeof browserFields)[number]>;

/**
 * The configuration that a browser was made with, in its wire form. Redis keeps one for each configuration, so that an answer shows
 * the configuration of its own session. Of a policy that is stored in ConfigMaps it contains only the hash.
 */
export type SessionConfig = Wire<BrowserFields> & { chrome_policy_sha256?: string };

/** Resolves viewport and telemetry, so that specs with the same meaning give equal configurations. */
export const sessionConfigOf = (spec: BrowserPoolSpec): SessionConfig => {
  const fields = Object.fromEntries(browserFields.map((field) => [field, spec[field]]));
  const resolved = { viewport: resolveViewport(spec.viewport), telemetry: resolveTelemetry(spec.telemetry) };
  const config = toWire(BrowserPoolSpec.partial(), { ...fields, ...resolved } as BrowserPoolSpec) as SessionConfig;
  const sha256 = spec.chromePolicyRef?.sha256;
  return { ...config, ...(sha256 && { chrome_policy_sha256: sha256 }) };
};

/** Equal for equal configurations; 16 hexadecimal digits. */
export const configHash = (spec: BrowserPoolSpec): string => stableHash(sessionConfigOf(spec));

/** The configuration that the agent of a browser needs. */
export const agentConfigOf = (spec: BrowserPoolSpec): BrowserConfig => {
  const { width, height, refreshRate } = resolveViewport(spec.viewport);
  return {
    headless: spec.headless,
    kiosk_mode: spec.kioskMode,
    viewport: { width, height, ...(refreshRate && { refresh_rate: refreshRate }) },
    ...(spec.startUrl && { start_url: spec.startUrl }),
  };
};
