/**
 * Where Chromium and its relatives are beside Debian's packages. Plain JavaScript without packages, as
 * locate-programs.mjs is.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Names on PATH, the wanted one first. */
export const chromiumNames = Object.freeze(["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]);

/**
 * Paths outside PATH, in the order in which they are tried: of whole browsers, or of chrome-headless-shell. `*` stands
 * for any version.
 * @param {{ platform: string, home: string }} system
 * @param {"browser" | "shell"} kind
 */
export const chromiumPlaces = ({ platform, home }, kind) => {
  const isMac = platform === "darwin";
  const playwright = join(home, isMac ? "Library/Caches" : ".cache", "ms-playwright");
  if (kind === "shell")
    return [
      join(home, ".cache/puppeteer/chrome-headless-shell/*/*/chrome-headless-shell"),
      join(playwright, "chromium_headless_shell-*/*/chrome-headless-shell"),
      join(playwright, "chromium_headless_shell-*/*/headless_shell"),
    ];
  if (isMac)
    return ["Chromium", "Google Chrome", "Google Chrome for Testing"].map(
      (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
    );
  return [
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    join(home, ".cache/puppeteer/chrome/*/*/chrome"),
    join(playwright, "chromium-*/*/chrome"),
  ];
};

/** @param {string} folder */
const namesIn = (folder) => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const newestFirst = new Intl.Collator("en", { numeric: true });

/**
 * The paths that a place stands for, the highest version first. Paths without `*` need not exist.
 * @param {string} place absolute
 */
export const pathsOf = (place) => {
  let paths = [""];
  for (const segment of place.split("/").slice(1)) {
    const [before = "", after] = segment.split("*");
    paths = paths.flatMap((folder) =>
      after === undefined
        ? [`${folder}/${segment}`]
        : namesIn(folder)
            .filter((name) => name.startsWith(before) && name.endsWith(after))
            .sort((a, b) => newestFirst.compare(b, a))
            .map((name) => `${folder}/${name}`),
    );
  }
  return paths;
};
