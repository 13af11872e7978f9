import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../core/config/config.ts";
import { type ProxyProvider, unsupportedSettings } from "../features/proxies/rules/proxy-provider.ts";
import type { RunDeps } from "../features/sites/analyses/run.ts";
import { createEvidenceStore } from "../features/sites/evidence-store.ts";
import { createJudge } from "../features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "../features/sites/judge/read-rules.ts";
import { AnalysisSettings } from "../features/sites/rules/analysis-settings.ts";
import { originOf } from "../features/sites/transfer.ts";
import { checkValue } from "../platform/kinds/check-value.ts";
import { readYamlFile } from "../platform/kinds/yaml-file.ts";
import type { Kube } from "../platform/kube/client.ts";

/**
 * Reads how sites are analyzed; undefined for no file: then none is. `rulesFile` becomes absolute. Throws an `Error`
 * that names the file and the field.
 */
export const readAnalysisSettings = (file: string | undefined): AnalysisSettings | undefined => {
  if (file === undefined) return undefined;
  const documents = readYamlFile(file);
  if (documents.length > 1) throw new Error(`${file}: give one document`);
  const settings = checkValue(AnalysisSettings, documents[0] ?? {}, file);
  return { ...settings, ...(settings.rulesFile && { rulesFile: resolve(dirname(file), settings.rulesFile) }) };
};

/** What the controller of analyses needs besides what all controllers share. */
export type AnalysisParts = Pick<
  RunDeps,
  "settings" | "rules" | "judge" | "judgeVersion" | "sentences" | "evidence" | "origin"
>;

/**
 * Reads how sites are analyzed, and the judge's rules; undefined where none is. Throws an `Error` that names the file
 * and the field, also for a proxy that the provider can't give, and one where browsers can't be kept from private
 * addresses.
 */
export const readAnalyses = async (
  { sites, systemNamespace, browserFeatures }: Config,
  { kube, proxyProvider }: { kube: Kube; proxyProvider: ProxyProvider },
): Promise<AnalysisParts | undefined> => {
  const settings = readAnalysisSettings(sites.analysesFile);
  if (!settings) return undefined;
  if (!browserFeatures.includes("network"))
    throw new Error("BROWSERPOOL_ANALYSES_FILE: sites are analyzed only where browsers have network rules");
  const [unsupported] = settings.proxies.flatMap((proxy, index) =>
    unsupportedSettings(proxy, proxyProvider).map(
      ({ path, message }) => `proxies.${[index, ...path].join(".")}: ${message}`,
    ),
  );
  if (unsupported !== undefined) throw new Error(`${sites.analysesFile}: ${unsupported}`);
  const own = settings.rulesFile === undefined ? undefined : readFileSync(settings.rulesFile, "utf8");
  const rules = readJudgeRules({ builtIn: builtInRules, own });
  const { builtIn, own: ownVersion } = rules.versions;
  const { minTrials, minRate } = sites;
  return {
    settings,
    rules: { minTrials, minRate },
    judge: createJudge(rules),
    judgeVersion: ownVersion === undefined ? `${builtIn}` : `${builtIn}+${ownVersion}`,
    sentences: rules.notes,
    evidence: createEvidenceStore({ kube }),
    origin: await originOf(kube, systemNamespace),
  };
};
