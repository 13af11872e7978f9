import { totpEntry } from "../credentials/credential.ts";

/** Prefix of the entries for names that Kubernetes does not allow as an entry. */
const encodedPrefix = "x-";

/** True for names that Kubernetes allows as an entry and that have no special meaning here. */
const isPlain = (name: string): boolean =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name) && name !== totpEntry && !name.startsWith(encodedPrefix);

/** The entry of a Secret for the value of this name: the name itself if possible, else `x-` and its base64url. */
export const entryOf = (name: string): string =>
  isPlain(name) ? name : encodedPrefix + Buffer.from(name).toString("base64url");

/** The inverse of `entryOf`. */
export const nameOf = (entry: string): string =>
  entry.startsWith(encodedPrefix) ? Buffer.from(entry.slice(encodedPrefix.length), "base64url").toString() : entry;
