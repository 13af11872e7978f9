import { dirname, resolve } from "node:path";
import { AnalysisSettings } from "../features/sites/rules/analysis-settings.ts";
import { checkValue } from "../platform/kinds/check-value.ts";
import { readYamlFile } from "../platform/kinds/yaml-file.ts";

/**
 * Reads how sites are analyzed; undefined for no file: then none is. `rulesFile` becomes absolute. Throws an `Error` that names the file
 * and the field.
 */
export const readAnalysisSettings = (file: string | undefined): AnalysisSettings | undefined => {
  if (file === undefined) return undefined;
  const documents = readYamlFile(file);
  if (documents.length > 1) throw new Error(`${file}: give one document`);
  const settings = checkValue(AnalysisSettings, documents[0] ?? {}, file);
  return { ...settings, ...(settings.rulesFile && { rulesFile: resolve(dirname(file), settings.rulesFile) }) };
};
