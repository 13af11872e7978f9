/** Extensions over HTTP; field names as on the wire (the SDK's `extensions`). */
import { z } from "zod";
import { namePattern, reservedMessage, reservedName } from "../../platform/kinds/selector.ts";

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

export const ExtensionRecord = z.object({
  id: z.string().describe("The extension's id."),
  name: z.string().nullable().describe("The extension's name."),
  created_at: z.iso.datetime(),
  size_bytes: z.int().describe("Size of the archive."),
  checksum: z.string().describe("SHA-256 digest of the archive exactly as it was uploaded, hex."),
});
export type ExtensionRecord = z.infer<typeof ExtensionRecord>;
