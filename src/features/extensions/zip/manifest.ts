import { z } from "zod";
import { ArchiveRefused } from "./archive-refused.ts";
import { maxManifestBytes } from "./limits.ts";
import { fileProblem } from "./manifest-files.ts";
import type { CheckedEntry } from "./open-archive.ts";

const manifestName = "manifest.json";

/** As Chromium reads it: it takes more than its documentation says. */
const isVersion = (text: string): boolean =>
  /^(0|[1-9]\d*)(\.\d+){0,3}$/.test(text) && text.split(".").every((number) => Number(number) < 2 ** 32);

/** The fields without which Chromium loads nothing. All others are its own affair. */
const Manifest = z.object({
  manifest_version: z.literal(3, "manifest_version: 3; Chromium loads no other any more"),
  name: z
    .string("name: a text")
    .trim()
    .min(1, "name: a text that is not empty")
    .max(255, "name: at most 255 characters"),
  version: z
    .string("version: a text")
    .refine(
      isVersion,
      "version: one to four numbers, such as 1.0.3, each below 4294967296, the first without leading zeros",
    ),
});

/** What an extension's manifest says of it. `name` can be a placeholder, e.g. `__MSG_appName__`. */
export type ExtensionManifest = { name: string; version: string };

/** The entry with the manifest, at the root of the archive. Throws `ArchiveRefused`. */
export const manifestEntry = (entries: CheckedEntry[]): CheckedEntry => {
  const found = entries.find(({ path, isFolder }) => path === manifestName && !isFolder);
  if (found) return found;
  const wrapped = entries.find(({ segments }) => segments.length === 2 && segments[1] === manifestName);
  if (wrapped)
    throw new ArchiveRefused(
      "no_manifest",
      "it must be at the root of the archive: zip what is in the folder, not the folder",
      { entry: wrapped.path },
    );
  throw new ArchiveRefused("no_manifest", "the archive has no manifest.json at its root");
};

const refuse = (message: string): never => {
  throw new ArchiveRefused("bad_manifest", message, { entry: manifestName });
};

/** A string, which stays as it is, or a comment. */
const stringOrComment = /"(?:\\[\s\S]|[^"\\])*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;

/** Parses the text of a manifest: JSON, in which Chromium takes comments, too. Throws `ArchiveRefused`. */
export const parseManifest = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(stringOrComment, (found) => (found.startsWith('"') ? found : " ")));
  } catch {
    return refuse("it is no JSON (comments are possible, commas at the end of lists are not)");
  }
};

/** Reads a manifest from the chunks of its file, and looks for the files that it names. Throws `ArchiveRefused`. */
export const readManifest = async (
  chunks: AsyncIterable<Buffer>,
  entries: readonly CheckedEntry[],
): Promise<ExtensionManifest> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxManifestBytes) refuse(`it is larger than ${maxManifestBytes} bytes`);
    parts.push(chunk);
  }
  // TextDecoder leaves a byte order mark out, which Windows' editors write.
  const parsed = parseManifest(new TextDecoder().decode(Buffer.concat(parts)));
  const { data, error } = Manifest.safeParse(parsed);
  if (!data) return refuse(error.issues.map(({ message }) => message).join("; "));
  const problem = fileProblem(parsed, entries);
  if (problem !== undefined) return refuse(problem);
  return { name: data.name, version: data.version };
};
