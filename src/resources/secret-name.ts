import { createHash } from "node:crypto";
import { maxIdLength } from "./selector.ts";

/** The name of a Secret that belongs to an object, so that it can be found and deleted without reading any; a hash of names that are too long for a prefix. */
export const secretNameFor = (prefix: string, objectName: string): string =>
  prefix.length + objectName.length <= maxIdLength
    ? prefix + objectName
    : prefix + createHash("sha256").update(objectName).digest("hex");
