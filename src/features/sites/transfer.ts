/**
 * Moves knowledge between installations as JSON lines, a site a line (docs/config-registry.md).
 *
 *   export: SiteEvidence objects + SiteConfigs, these as evidence of the source `given` ──► lines
 *   import: lines ──all checked──► merged into SiteEvidence objects; the same file again changes nothing
 */

import { joinPath } from "../../platform/kinds/wire.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import { type SiteConfig, siteConfigKind } from "./configs/site-config.ts";
import { createEvidenceStore } from "./evidence-store.ts";
import { siteKey, writeSite } from "./pack-sites.ts";
import { mergeSites } from "./rules/site.ts";
import { siteProblems } from "./rules/site-problems.ts";
import { SiteLine } from "./site-evidence.ts";

/** Longest line of an import, characters: a site with all that it may have is shorter. */
const maxLine = 1_048_576;

/** Bad lines that are named before an import gives up. */
const maxProblems = 20;

/** The name under which this installation counts: the uid of its system namespace. Throws when that is not there. */
export const originOf = async (kube: Kube, systemNamespace: string): Promise<string> => {
  const namespace = await kube.get(namespaces, { name: systemNamespace });
  if (!namespace)
    throw new Error(`there is no namespace ${systemNamespace}; is the service installed in this cluster?`);
  return namespace.metadata.uid;
};

const givenLine = ({ spec: { scope, target, configurations, guidance } }: SiteConfig, origin: string): SiteLine => ({
  scope,
  target,
  configurations: configurations.map(({ evidence, ...recipe }) => ({
    ...recipe,
    evidence: [{ origin, source: "given", ...evidence }],
  })),
  ...(guidance !== undefined && { guidance }),
});

/** All that this installation knows, as lines in no order. SiteConfigs that are not in force are left out. */
export async function* exportSites(kube: Kube, origin: string): AsyncIterable<string> {
  const { items } = await kube.list(siteConfigKind);
  const isInForce = ({ status }: SiteConfig): boolean =>
    status?.conditions.some(({ type, status: is }) => type === "Accepted" && is === "True") === true;
  const given = new Map(
    items
      .filter(isInForce)
      .map((config) => [siteKey(config.spec.scope, config.spec.target), givenLine(config, origin)]),
  );
  for await (const site of createEvidenceStore({ kube }).all()) {
    const key = siteKey(site.scope, site.target);
    const config = given.get(key);
    given.delete(key);
    yield writeSite(config ? mergeSites(site, config) : site);
  }
  for (const site of given.values()) yield writeSite(site);
}

/** The site of a line, or what is wrong with it. */
const parseLine = (line: string): SiteLine | string => {
  if (line.length > maxLine) return `has more than ${maxLine} characters`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "is no JSON";
  }
  const { data, error } = SiteLine.safeParse(value);
  if (!data) return error.issues.map(({ path, message }) => `${joinPath(path as string[])}: ${message}`).join("; ");
  const [problem] = siteProblems(data);
  return problem ? `${joinPath(problem.path)}: ${problem.message}` : data;
};

/** Without what this installation has given itself: that is in its SiteConfigs, or was deleted there. */
const withoutOwnGiven = (site: SiteLine, origin: string): SiteLine => ({
  ...site,
  configurations: site.configurations.flatMap((known) => {
    const evidence = known.evidence.filter((each) => each.origin !== origin || each.source !== "given");
    return evidence.length > 0 ? [{ ...known, evidence }] : [];
  }),
});

/** What an import did. `left`: sites that found no room. */
type Imported = { sites: number; left: number };

/**
 * Merges lines into what is known. Throws an Error that names bad lines, before anything is written. `onProgress`:
 * called after each object that was written.
 */
export const importSites = async (
  lines: AsyncIterable<string>,
  { kube, origin, onProgress }: { kube: Kube; origin: string; onProgress?: (done: number, all: number) => void },
  signal?: AbortSignal,
): Promise<Imported> => {
  const sites: SiteLine[] = [];
  const problems: string[] = [];
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const site = parseLine(line);
    if (typeof site !== "string") sites.push(withoutOwnGiven(site, origin));
    else if (problems.push(`line ${number} ${site}`) >= maxProblems) break;
  }
  if (problems.length > 0) throw new Error(`nothing was imported:\n  ${problems.join("\n  ")}`);
  const { left } = await createEvidenceStore({ kube }).merge(sites, { signal, onProgress });
  return { sites: sites.length, left };
};
