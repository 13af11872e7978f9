/**
 * What a browser needs beyond the variables of its pod: what is too large for them, or secret. An agent whose pod says
 * so (`BrowserConfig.awaits_setup`) starts no Chromium before it has all of it.
 */
import { z } from "zod";

/** Longest body of `PUT /setup`, bytes: a policy of 5 MiB, the rules, and 65 proxies with their certificates. */
export const maxSetupBytes = 12 * 1024 * 1024;

const text = z.string().max(4096);
const hostPatterns = z.array(z.string().min(1).max(255)).max(1024);

/** A proxy that takes a browser's traffic, with its secrets. */
export const ParentProxy = z.object({
  id: z.string().min(1).max(253),
  /** How the agent speaks with the proxy itself. */
  protocol: z.enum(["http", "https"]),
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65535),
  username: text.optional(),
  password: text.optional(),
  /** PEM certificates that both the agent and the browser trust. */
  ca_bundle: z.string().max(65536).optional(),
  /** Host patterns that go past this proxy. */
  bypass_hosts: hostPatterns.default([]),
});
export type ParentProxy = z.infer<typeof ParentProxy>;

/** The network rules of a browser. `proxy`: the id of the proxy for all traffic that no route takes. */
export const NetworkSetup = z.object({
  allowed_hosts: hostPatterns.optional(),
  private_hosts: hostPatterns.optional(),
  routes: z
    .array(z.object({ hosts: hostPatterns, proxy: z.string() }))
    .max(64)
    .default([]),
  proxy: z.string().optional(),
  proxies: z.array(ParentProxy).max(65).default([]),
});
export type NetworkSetup = z.infer<typeof NetworkSetup>;

/** An archive that is sent by itself (`PUT /archives/{sha256}`). `sha256`: hexadecimal. */
export const ArchiveRef = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) });
export type ArchiveRef = z.infer<typeof ArchiveRef>;

/** The body of `PUT /setup`. */
export const BrowserSetup = z.object({
  /** Chrome enterprise policies by name. */
  policy: z.record(z.string(), z.unknown()).optional(),
  /** Given, the browser gets a network namespace of its own, with no way out but the agent's forwarding proxy. */
  network: NetworkSetup.optional(),
  /**
   * Extensions in load order: zips. `id`: the same in all browsers, so that Chromium's own id of the extension is the
   * same, too, and a profile's storage is found again. `name`: what errors call it.
   */
  extensions: z
    .array(ArchiveRef.extend({ id: z.string().min(1).max(64), name: z.string().max(255) }))
    .max(20)
    .default([]),
  /** The profile that the browser starts with: a tar.zst. */
  profile: ArchiveRef.optional(),
  /** The uid of the profile that the browser's state is saved to at its end (profile-save.ts). */
  save_to: z.string().min(1).max(64).optional(),
});
export type BrowserSetup = z.infer<typeof BrowserSetup>;

/** The answer to `PUT /setup`: the digests of the archives that the agent does not have yet. */
export const MissingArchives = z.object({ missing: z.array(z.string()) });
export type MissingArchives = z.infer<typeof MissingArchives>;
