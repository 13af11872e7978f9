import { betweenFeatures, loadedBesideChromium, loadedLater, packageHomes, restrictions } from "./import-rules.ts";
import { layers } from "./layers.ts";
import { decisions } from "./purity-rules.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

/** `core/agent` for `core/agent/**`, `*` for a pattern that begins with any folder. */
const folderOfPattern = (pattern: string): string => pattern.replace(/\/?\*.*$/, "") || "*";

/** Places that the rules name, by the file that names them. Patterns count as the folder that they begin with. */
const places: Readonly<Record<string, readonly string[]>> = {
  "import-rules.ts": [
    ...Object.entries(betweenFeatures).flatMap(([from, others]) =>
      [from, ...Object.keys(others)].map((feature) => `features/${feature}`),
    ),
    ...restrictions.flatMap(({ files, not = [], only = [] }) => [...files, ...not, ...only]).map(folderOfPattern),
    ...[loadedLater, loadedBesideChromium].flatMap(({ programs, patterns }) => [
      ...programs,
      ...patterns.map(folderOfPattern),
    ]),
    ...Object.values(packageHomes).flat(),
  ],
  "layers.ts": layers.flatMap(({ folders }) => folders),
  "purity-rules.ts": decisions.map(folderOfPattern),
};

/** Places in the rules that src/ no longer has. A new folder under an old name must not inherit its rights. */
export const checkStalePlaces = (tree: SourceTree): Violation[] => {
  const files = [...tree.keys()];
  const isThere = (place: string): boolean =>
    place === "*" || place.startsWith("..") || files.some((file) => file === place || file.startsWith(`${place}/`));
  return Object.entries(places).flatMap(([file, named]) =>
    [...new Set(named)]
      .filter((place) => !isThere(place))
      .map((place) => `${place} is gone, and scripts/architecture/${file} still names it`),
  );
};
