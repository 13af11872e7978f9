import { X509Certificate } from "node:crypto";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserSetup } from "../protocol/browser-setup.ts";

/** The entry with which policies add authorities to those that Chromium trusts: base64 of DER. */
const authorities = "CACertificates";

const managedIn = (folder: string): string => join(folder, "managed");

const certificatesIn = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)].map(([block]) =>
    new X509Certificate(block).raw.toString("base64"),
  );

/** The policies of a browser: those of its configuration, and the authorities of its proxies. Undefined when there are none. */
export const policiesOf = ({ policy = {}, network }: BrowserSetup): Record<string, unknown> | undefined => {
  const added = (network?.proxies ?? []).flatMap(({ ca_bundle }) => (ca_bundle ? certificatesIn(ca_bundle) : []));
  const given = policy[authorities];
  const all = [...(Array.isArray(given) ? given : []), ...added];
  const policies = { ...policy, ...(all.length > 0 && { [authorities]: all }) };
  return Object.keys(policies).length > 0 ? policies : undefined;
};

/** Lets this process change and remove a folder of policies again. */
export const releasePolicies = async (folder: string): Promise<void> => {
  for (const one of [folder, managedIn(folder)]) await chmod(one, 0o700).catch(() => undefined);
};

/**
 * Makes `folder` a folder of policies, as Chromium's /etc/chromium/policies, with nothing but these: Chromium can read them, and no
 * download can add to them.
 */
export const writePolicies = async (folder: string, policies: Record<string, unknown> | undefined): Promise<void> => {
  const managed = managedIn(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await releasePolicies(folder);
  await rm(managed, { recursive: true, force: true });
  if (policies) {
    await mkdir(managed, { mode: 0o700 });
    await writeFile(join(managed, "browserpool.json"), JSON.stringify(policies), { mode: 0o400 });
    await chmod(managed, 0o500);
  }
  await chmod(folder, 0o500);
};
