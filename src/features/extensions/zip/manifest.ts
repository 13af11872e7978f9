import { posix } from "node:path";
import { z } from "zod";
import { ArchiveRefused, shownName } from "../../../platform/zip/archive-refused.ts";
import type { CheckedEntry } from "../../../platform/zip/open-archive.ts";
import { maxManifestBytes } from "./limits.ts";

// What Chromium looks for in the files of an extension before it loads it, as far as it can be told without Chromium
// (EXTENSION-14). Each kind was tried on Chromium; it takes a missing `default_popup`, `devtools_page` or sandboxed
// page.

/** A field of another type is left out: Chromium refuses it. */
const optional = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);
const path = optional(z.string());
const paths = optional(z.array(z.string()));
const pathsByKey = optional(z.record(z.string(), z.string()));

const NamedFiles = z.object({
  default_locale: path,
  background: optional(z.object({ service_worker: path })),
  content_scripts: optional(z.array(z.object({ js: paths, css: paths }))),
  icons: pathsByKey,
  action: optional(z.object({ default_icon: optional(z.union([z.string(), z.record(z.string(), z.string())])) })),
  options_page: path,
  options_ui: optional(z.object({ page: path })),
  side_panel: optional(z.object({ default_path: path })),
  chrome_url_overrides: optional(z.object({ newtab: path, history: path, bookmarks: path })),
  declarative_net_request: optional(z.object({ rule_resources: optional(z.array(z.object({ path }))) })),
  storage: optional(z.object({ managed_schema: path })),
});

type Named = [field: string, path: string | undefined];

const listed = (field: string, list: readonly string[] = []): Named[] =>
  list.map((one, index) => [`${field}[${index}]`, one]);

/** A key is the archive's, too. */
const keyed = (field: string, byKey: Record<string, string | undefined> = {}): Named[] =>
  Object.entries(byKey).map(([key, one]) => [
    /^\w{1,40}$/.test(key) ? `${field}.${key}` : `${field}[${shownName(key)}]`,
    one,
  ]);

const namedFiles = (manifest: z.infer<typeof NamedFiles>): Named[] => {
  const icon = manifest.action?.default_icon;
  return [
    ["background.service_worker", manifest.background?.service_worker],
    ...(manifest.content_scripts ?? []).flatMap(({ js, css }, index) => [
      ...listed(`content_scripts[${index}].js`, js),
      ...listed(`content_scripts[${index}].css`, css),
    ]),
    ...keyed("icons", manifest.icons),
    ...(typeof icon === "string" ? ([["action.default_icon", icon]] as Named[]) : keyed("action.default_icon", icon)),
    ["options_page", manifest.options_page],
    ["options_ui.page", manifest.options_ui?.page],
    ["side_panel.default_path", manifest.side_panel?.default_path],
    ...keyed("chrome_url_overrides", manifest.chrome_url_overrides),
    ...(manifest.declarative_net_request?.rule_resources ?? []).map(
      (rule, index): Named => [`declarative_net_request.rule_resources[${index}].path`, rule.path],
    ),
    ["storage.managed_schema", manifest.storage?.managed_schema],
  ];
};

/**
 * The path as entries of the archive have it; undefined where it depends on the field how Chromium reads it, as with
 * `%20` and `?`.
 */
const asEntry = (named: string): string | undefined =>
  /[%?#\\]/.test(named) ? undefined : posix.normalize(`/${named}`).replace(/^\/|\/$/g, "");

const systemNames = new Set(["_locales", "_metadata", "_platform_specific"]);

/**
 * The first thing that keeps Chromium from loading an extension with these entries; undefined: nothing that is seen
 * here.
 */
const fileProblem = (
  parsed: unknown,
  entries: readonly { path: string; segments: readonly string[] }[],
): string | undefined => {
  const roots = new Set(entries.map(({ segments: [root = ""] }) => root));
  const reserved = [...roots].find((name) => name.startsWith("_") && !systemNames.has(name));
  if (reserved !== undefined)
    return `the archive has ${shownName(reserved)} at its root, and Chromium keeps names that begin with _ for itself: leave it out, or rename it`;
  const { data: manifest } = NamedFiles.safeParse(parsed);
  if (!manifest) return undefined;
  const present = new Set(entries.map(({ path }) => path));
  const locale = manifest.default_locale;
  if (locale !== undefined && !present.has(`_locales/${locale}/messages.json`))
    return `default_locale: the archive has no file ${shownName(`_locales/${locale}/messages.json`)}`;
  const missing = namedFiles(manifest).find(([, named = ""]) => {
    const entry = asEntry(named);
    return entry !== undefined && entry !== "" && !present.has(entry);
  });
  return missing && `${missing[0]}: the archive has no file ${shownName(missing[1] ?? "")}`;
};

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
