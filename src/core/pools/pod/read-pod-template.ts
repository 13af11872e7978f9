import { readYamlFile } from "../../../platform/kinds/yaml-file.ts";
import { checkPodTemplate, type PodTemplate } from "./pod-template.ts";

/** Reads a template from a file; undefined for no file. Throws an `Error` that names the file and the field. */
export const readPodTemplate = (file: string | undefined): PodTemplate | undefined => {
  if (file === undefined) return undefined;
  const [template = {}, ...others] = readYamlFile(file);
  if (others.length > 0) throw new Error(`${file}: give one document; it holds ${others.length + 1}`);
  return checkPodTemplate(template, file);
};
