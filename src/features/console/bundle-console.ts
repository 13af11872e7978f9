import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { styleSheet } from "../../core/http/pages/style-sheet.ts";

/**
 * What the console's pages load. `entry`: the script that begins, `preload`: those that it imports at once; they, the
 * style sheet and the icon are names of `texts`.
 */
export type ConsoleBundle = {
  entry: string;
  preload: string[];
  style: string;
  icon: string;
  texts: Record<string, string>;
};

const style = new URL("in-page/console.css", import.meta.url);
const icon = new URL("in-page/icon.svg", import.meta.url);

/** A name with a hash of what is in the file. */
const nameOf = (name: string, ending: string, text: string): string =>
  `${name}-${createHash("sha256").update(text).digest("base64url").slice(0, 8)}.${ending}`;

const textOf = (url: URL): string => readFileSync(url, "utf8");

/**
 * Makes scripts and style sheet of in-page/, whose names contain a hash of what is in them. Needs rolldown and the
 * libraries of the pages, which are there while images are built and in a clone.
 */
export const bundleConsole = async (): Promise<ConsoleBundle> => {
  const { rolldown } = await import("rolldown");
  await using build = await rolldown({
    input: fileURLToPath(new URL("in-page/main.tsx", import.meta.url)),
    platform: "browser",
    tsconfig: fileURLToPath(new URL("in-page/tsconfig.json", import.meta.url)),
    transform: { target: "es2023" },
  });
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
  });
  const chunks = output.filter((file) => file.type === "chunk");
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (!entry || chunks.length < output.length) throw new Error("the console's scripts are not what is expected");
  const [css, svg] = [styleSheet(textOf(style)), textOf(icon)];
  const names = { style: nameOf("console", "css", css), icon: nameOf("icon", "svg", svg) };
  const scripts = chunks.map(({ fileName, code }) => [fileName, code] as const);
  return {
    ...names,
    entry: entry.fileName,
    preload: entry.imports,
    texts: { ...Object.fromEntries(scripts), [names.style]: css, [names.icon]: svg },
  };
};
