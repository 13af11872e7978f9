import { z } from "zod";
import { checkValue } from "../../platform/kinds/check-value.ts";
import { projectLabel } from "../../platform/kinds/identity.ts";
import { apiGroup } from "../../platform/kinds/kind.ts";
import { readYamlFile } from "../../platform/kinds/yaml-file.ts";

/** An object without a namespace. All else that it says is the API server's to check. */
export type ProjectObject = { apiVersion: string; kind: string; metadata: { name: string } };

/** The objects that the operator keeps in every project's namespace. */
export type ProjectObjects = {
  /** Labels of the namespace itself. */
  namespaceLabels: Record<string, string>;
  /** Without a namespace; in the order of the file. */
  objects: ProjectObject[];
};

const texts = z.record(z.string(), z.string());

const NamespaceDocument = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Namespace"),
  metadata: z.strictObject({
    labels: texts.refine((labels) => !(projectLabel in labels), `${projectLabel} marks projects; leave it out`),
  }),
});

/** The API server checks all other fields. */
const ObjectDocument = z.looseObject({
  apiVersion: z.string().regex(/^([a-z0-9.-]+\/)?v[a-z0-9]+$/, "expected a version such as v1 or apps/v1"),
  kind: z.string().min(1),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z
      .string()
      .optional()
      .refine(
        (namespace): boolean => namespace === undefined,
        "leave it out: the operator fills in each project's namespace",
      ),
  }),
});

// YAML can hold anything; whatever `kind` is, the caller compares it.
const kindOf = (document: unknown): unknown => (document as { kind?: unknown } | null)?.kind;

/** Whether this is a quota on objects of our own kinds. */
export const countsOwnKinds = (object: ProjectObject): boolean => {
  const { spec } = object as { spec?: { hard?: object } };
  return (
    object.kind === "ResourceQuota" && Object.keys(spec?.hard ?? {}).some((key) => key.endsWith(`.${apiGroup.group}`))
  );
};

/** Parses the documents of a file. Throws an `Error` that names each bad field. `where`: the file. */
export const checkProjectObjects = (documents: unknown[], where: string): ProjectObjects => {
  const wanted: ProjectObjects = { namespaceLabels: {}, objects: [] };
  for (const [index, document] of documents.entries()) {
    const place = `${where}, document ${index + 1}`;
    if (kindOf(document) === "Namespace")
      Object.assign(wanted.namespaceLabels, checkValue(NamespaceDocument, document, place).metadata.labels);
    else wanted.objects.push(checkValue(ObjectDocument, document, place));
  }
  return wanted;
};

/**
 * Reads the objects of every project from a file; undefined for no file. Throws an `Error` that names the file and the
 * field.
 */
export const readProjectObjects = (file: string | undefined): ProjectObjects | undefined =>
  file === undefined ? undefined : checkProjectObjects(readYamlFile(file), file);
