/** The kind Extension: an uploaded browser extension (the EXTENSION rules). The store of blobs has its archive. */
import { z } from "zod";
import { objectKey } from "../../platform/blobs/object-key.ts";
import { Conditions, observedGeneration } from "../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind } from "../../platform/kinds/kind.ts";
import { namePattern, objectName, reservedMessage, reservedName } from "../../platform/kinds/selector.ts";

const Archive = z
  .object({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("The SHA-256 digest of the archive, hex."),
    sizeBytes: z.int().min(1).describe("Its size."),
    name: z.string().max(255).describe("The name that the extension's manifest gives."),
    version: z.string().max(64).describe("The version that the extension's manifest gives."),
  })
  .describe("The archive that was uploaded. The HTTP API sets it when the archive is stored.");

export const ExtensionSpec = z
  .object({
    name: objectName.optional().describe("The extension's name, unique within the project."),
    archive: Archive.optional(),
  })
  .describe("The extension. Its archive is uploaded over HTTP.");
export type ExtensionSpec = z.infer<typeof ExtensionSpec>;

const ExtensionStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    storedSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe("The digest of the archive that the operator has found in the store."),
  })
  .describe("The observed state of the extension. Written by the operator.");

export type Extension = CustomResource<typeof ExtensionSpec, typeof ExtensionStatus>;

export const extensionKind: Kind<typeof ExtensionSpec, typeof ExtensionStatus> = {
  ...apiGroup,
  kind: "Extension",
  plural: "extensions",
  shortNames: ["ext"],
  namespaced: true,
  description: "A browser extension that pools and browsers can start with. Its archive is in the store of blobs.",
  spec: ExtensionSpec,
  status: ExtensionStatus,
  printerColumns: [
    { name: "Extension", type: "string", jsonPath: ".spec.archive.name" },
    { name: "Version", type: "string", jsonPath: ".spec.archive.version" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/**
 * Annotation of an extension whose upload is under way: until when it may take, RFC 3339. The operator deletes it after
 * that.
 */
export const uploadUntilAnnotation = "browserpool.dev/upload-until";

/** The key of an extension's archive in the store of blobs. */
export const archiveKey = ({ metadata }: Pick<Extension, "metadata">): string => objectKey("extensions", metadata);

/** Where older releases kept an extension's archive. No object but this one has its uid. */
export const formerKey = ({ metadata }: Pick<Extension, "metadata">): string => `extensions/${metadata.uid}`;

/** Whether an older release has found the archive, and this one has not moved it yet. */
export const isFormer = ({ status }: Extension): boolean =>
  status !== undefined &&
  status.storedSha256 === undefined &&
  status.conditions.some(({ type, reason }) => type === "Ready" && reason === "Stored");

// Extensions over HTTP; field names as on the wire (the SDK's `extensions`).

/** The text fields of an upload; the archive is the field `file`. */
export const UploadExtension = z.object({
  // No `not` in the document: Schemathesis can't make forms with files for such a schema.
  name: z
    .string()
    .max(255)
    .regex(namePattern)
    .refine((text) => !reservedName.test(text), reservedMessage)
    .optional()
    .describe("The extension's name, unique within the project."),
});
export type UploadExtension = z.infer<typeof UploadExtension>;

export const ExtensionAnswer = z.object({
  id: z.string().describe("The extension's id."),
  name: z.string().nullable().describe("The extension's name."),
  created_at: z.iso.datetime(),
  size_bytes: z.int().describe("Size of the archive."),
  checksum: z.string().describe("SHA-256 digest of the archive exactly as it was uploaded, hex."),
});
export type ExtensionAnswer = z.infer<typeof ExtensionAnswer>;
