import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserSetup } from "../protocol/browser-setup.ts";

/** The entry with which policies add authorities to those that Chromium trusts: base64 of DER. */
const authorities = "CACertificates";

const managedIn = (folder: string): string => join(folder, "managed");

const certificatesIn = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].map(([block]) =>
    new X509Certificate(block).raw.toString("base64"),
  );

/**
 * What every browser has. On Chromium's page for tests of policies, whoever has CDP could replace all policies, and
 * have the browser start programs by that.
 */
const always = { PolicyTestPageEnabled: false };

/** The policies that a setup gives a browser: its configuration's, and the authorities of its proxies. */
export const policiesOf = ({ policy = {}, network }: BrowserSetup): Record<string, unknown> => {
  const added = (network?.proxies ?? []).flatMap(({ ca_bundle }) => (ca_bundle ? certificatesIn(ca_bundle) : []));
  const given = policy[authorities];
  const all = [...(Array.isArray(given) ? given : []), ...added];
  return { ...policy, ...(all.length > 0 && { [authorities]: all }) };
};

/** Lets this process change and remove a folder of policies again. */
export const releasePolicies = (folder: string): void => {
  for (const one of [folder, managedIn(folder)])
    try {
      chmodSync(one, 0o700);
    } catch {
      // It is not there.
    }
};

/**
 * Makes `folder` a folder of policies, as Chromium's /etc/chromium/policies, with nothing but these and what every
 * browser has: Chromium can read them, and no download can add to them.
 */
export const writePolicies = (folder: string, policies: Record<string, unknown>): void => {
  const managed = managedIn(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  releasePolicies(folder);
  rmSync(managed, { recursive: true, force: true });
  mkdirSync(managed, { mode: 0o700 });
  writeFileSync(join(managed, "browserpool.json"), JSON.stringify({ ...policies, ...always }), { mode: 0o400 });
  chmodSync(managed, 0o500);
  chmodSync(folder, 0o500);
};
