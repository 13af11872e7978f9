import { z } from "zod";
import { toWire, type Wire } from "../../../platform/kinds/wire.ts";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { BrowserConfig } from "../../protocol/agent-api.ts";
import type { PoolLikeSpec } from "../browsers/on-demand-pool.ts";
import { BrowserPoolSpec } from "../pools/browser-pool.ts";
import { Telemetry } from "./telemetry.ts";
import { resolveTelemetry } from "./telemetry-merge.ts";
import { resolveViewport } from "./viewport.ts";

/** The fields of a pool's spec that configure a browser; a change of one of them makes idle browsers outdated. */
const BrowserFields = BrowserPoolSpec.pick({
  headless: true,
  stealth: true,
  kioskMode: true,
  memory: true,
  chromePolicy: true,
  extensions: true,
  network: true,
  profile: true,
  proxyId: true,
  startUrl: true,
  telemetry: true,
  viewport: true,
}).extend({ gpu: z.boolean().optional(), savesProfile: z.boolean().optional() });

/**
 * The configuration that a browser was made with, in its wire form. Redis keeps one for each configuration, so that an answer shows
 * the configuration of its own session. Of a policy that is stored in ConfigMaps it contains only the hash.
 */
export type SessionConfig = Wire<z.infer<typeof BrowserFields>> & { chrome_policy_sha256?: string };

/** Resolves viewport and telemetry, so that specs with the same meaning give equal configurations. */
export const sessionConfigOf = (spec: PoolLikeSpec): SessionConfig => {
  const telemetry = resolveTelemetry(spec.telemetry);
  const config = toWire(BrowserFields, { ...spec, viewport: resolveViewport(spec.viewport, spec), telemetry });
  const sha256 = spec.chromePolicyRef?.sha256;
  return { ...config, ...(sha256 && { chrome_policy_sha256: sha256 }) };
};

/** Equal for equal configurations; 16 hexadecimal digits. */
export const configHash = (spec: PoolLikeSpec): string => stableHash(sessionConfigOf(spec));

/** Whether a browser needs more than its pod says (core/protocol/browser-setup.ts): what is secret, or too large for a variable. */
export const needsSetup = (spec: BrowserPoolSpec): boolean =>
  [spec.chromePolicy, spec.chromePolicyRef, spec.extensions, spec.network, spec.profile, spec.proxyId].some(
    (setting) => setting !== undefined,
  );

/** The configuration that the agent of a browser gets with its pod. */
export const agentConfigOf = (spec: PoolLikeSpec): BrowserConfig => {
  const { width, height, refreshRate } = resolveViewport(spec.viewport, spec);
  const telemetry = resolveTelemetry(spec.telemetry);
  return {
    headless: spec.headless,
    kiosk_mode: spec.kioskMode,
    ...(spec.stealth && { stealth: true }),
    ...(spec.gpu && { gpu: true }),
    viewport: { width, height, ...(refreshRate && { refresh_rate: refreshRate }) },
    ...(spec.startUrl && { start_url: spec.startUrl }),
    ...(telemetry && { telemetry: toWire(Telemetry, telemetry) }),
    ...(needsSetup(spec) && { awaits_setup: true }),
  };
};
