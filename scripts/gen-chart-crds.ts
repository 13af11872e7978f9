/**
 * Makes the chart's CRDs from those of crds/. They are templates, so that a Helm upgrade also upgrades the CRDs and an
 * uninstall can keep them.
 */
import { join } from "node:path";
import { crdTexts } from "./gen-crds.ts";
import { generateFolder, root } from "./generated-file.ts";

const folder = "charts/browserpool/templates/crds";

/** The place in a CRD's metadata for the chart's labels and annotations. */
const namePattern = /^metadata:\n {2}name: .*\n/m;

/** Returns the CRD as a Helm template. Throws an Error for a CRD that already contains template syntax. */
const templateOf = (text: string): string => {
  if (text.includes("{{")) throw new Error("a CRD has {{ in it, which Helm would expand");
  const metadata = '  {{- include "browserpool.crdMetadata" . | nindent 2 }}\n';
  const marked = text.replace(namePattern, (lines) => lines + metadata);
  if (marked === text) throw new Error("a CRD has no metadata with a name");
  return `{{- if .Values.crds.enabled }}\n${marked}{{- end }}\n`;
};

/** Writes the chart's CRDs, or with `check` compares them. Returns what it wrote. Throws an Error that names stale files. */
export const generateChartCrds = async ({ check }: { check: boolean }): Promise<string> => {
  const texts = new Map([...crdTexts()].map(([file, text]) => [file, templateOf(text)]));
  await generateFolder({ path: join(root, folder), name: folder }, texts, { check });
  return `${folder}/`;
};
