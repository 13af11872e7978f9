import { z } from "zod";
import { projectLabel } from "../../resources/identity.ts";
import { checkValue } from "../check-value.ts";

/** An object without a namespace. All else that it says is the API server's to check. */
export type ProjectObject = { apiVersion: string; kind: string; metadata: { name: string } };

/** What every project has in its namespace. */
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
    labels: texts.refine((labels) => !(projectLabel in labels), `${projectLabel} says what is a project; it stays`),
  }),
});

/** All but these fields is the API server's to check. */
const ObjectDocument = z.looseObject({
  apiVersion: z.string().regex(/^([a-z0-9.-]+\/)?v[a-z0-9]+$/, "expected a version such as v1 or apps/v1"),
  kind: z.string().min(1),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z
      .string()
      .optional()
      .refine((namespace): boolean => namespace === undefined, "leave it out: it is every project's own"),
  }),
});

const kindOf = (document: unknown): unknown => (document as { kind?: unknown } | null)?.kind;

/** Reads the documents of a file; throws an `Error` that names each bad field. `where`: the file. */
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
