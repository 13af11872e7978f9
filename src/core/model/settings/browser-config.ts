import { z } from "zod";
import { toWire, type Wire } from "../../../platform/kinds/wire.ts";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { BrowserConfig } from "../../protocol/agent-api.ts";
import type { PoolLikeSpec } from "../browsers/on-demand-pool.ts";
import { BrowserPoolSpec } from "../pools/browser-pool.ts";
import { resolveViewport } from "./browser-settings.ts";
import { Location } from "./location.ts";
import { type SettingsWith, settingsWith, settingTable } from "./setting-table.ts";
import { resolveTelemetry } from "./telemetry.ts";

/** What a browser is made with, as the schema of a pool or a browser has it. */
const BrowserFields = BrowserPoolSpec.extend({
  gpu: z.boolean().optional(),
  location: Location.optional(),
  savesProfile: z.boolean().optional(),
}).pick(
  Object.fromEntries(settingsWith("hashed", true).map((key) => [key, true])) as Record<
    SettingsWith<"hashed", true>,
    true
  >,
);

/**
 * The configuration that a browser was made with, in its wire form. Redis keeps one for each configuration, so that an
 * answer shows the configuration of its own session. Of a policy that is stored in ConfigMaps it contains only the
 * hash.
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

const inSetup = settingsWith("agent", "setup");

/**
 * Whether a browser needs more than its pod says (protocol/browser-setup.ts): what is secret, or too large for a
 * variable.
 */
export const needsSetup = (spec: BrowserPoolSpec): boolean => inSetup.some((key) => spec[key] !== undefined);

/** The configuration that the agent of a browser gets with its pod. */
export const agentConfigOf = (spec: PoolLikeSpec): BrowserConfig =>
  Object.assign(
    {},
    ...Object.values(settingTable).map(({ agent }) => typeof agent === "object" && agent.pod(spec)),
    needsSetup(spec) && { awaits_setup: true },
  );
