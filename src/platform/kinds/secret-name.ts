import { createHash } from "node:crypto";
import { maxIdLength } from "./selector.ts";

/**
 * The name of an object's own Secret, so that the operator can delete it without reading Secrets. A name that is too long for the
 * prefix is hashed.
 */
export const secretNameFor = (prefix: string, objectName: string): string =>
  prefix.length + objectName.length <= maxIdLength
    ? prefix + objectName
    : prefix + createHash("sha256").update(objectName).digest("hex");
