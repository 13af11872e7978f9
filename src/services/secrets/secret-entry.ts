import { totpEntry } from "../../resources/credential.ts";

/** Begins the entries of names that an entry can't have. */
const encodedPrefix = "x-";

/** What Kubernetes allows an entry, but for what means something here. */
const isPlain = (name: string): boolean =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name) && name !== totpEntry && !name.startsWith(encodedPrefix);

/** The entry of a Secret for a value of this name: the name itself where it can be, `x-` and its base64url where not. */
export const entryOf = (name: string): string =>
  isPlain(name) ? name : encodedPrefix + Buffer.from(name).toString("base64url");

/** The inverse of `entryOf`. */
export const nameOf = (entry: string): string =>
  entry.startsWith(encodedPrefix) ? Buffer.from(entry.slice(encodedPrefix.length), "base64url").toString() : entry;
