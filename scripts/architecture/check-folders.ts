import { type Import, importsOfTree } from "./imports.ts";
import { layers } from "./layers.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

const layerOf = (file: string): number =>
  layers.findIndex(({ folders }) => folders.some((folder) => file === folder || file.startsWith(`${folder}/`)));

/** `platform/kube/watch.ts` → `platform/kube`; `local/kubelet/local-kubelet.ts` → `local`; `main.ts` → `main.ts`. */
const folderOf = (file: string): string => {
  const parts = file.split("/");
  return parts.slice(0, layers[layerOf(file)]?.rooms && parts.length > 2 ? 2 : 1).join("/");
};

/** How high a folder is, 0 for the lowest layer; undefined when layers.ts does not know it. */
const heightOf = (folder: string): number | undefined => {
  const height = layerOf(folder);
  return height === -1 ? undefined : height;
};

/** Importing folder → imported folder → the first import that does it. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, Import>>;

const isBetweenFolders = ({ file, target, isLocal }: Import): boolean =>
  isLocal && !target.startsWith("..") && folderOf(file) !== folderOf(target);

/** Which folder imports which, by types too. Folders without imports are in it as well. */
const graphOf = (tree: SourceTree): Graph => {
  const graph = new Map<string, Map<string, Import>>();
  for (const [file, imports] of importsOfTree(tree)) {
    const targets = graph.get(folderOf(file)) ?? new Map<string, Import>();
    graph.set(folderOf(file), targets);
    for (const item of imports.filter(isBetweenFolders)) {
      const target = folderOf(item.target);
      if (!targets.has(target)) targets.set(target, item);
    }
  }
  return graph;
};

const unknownFolders = (graph: Graph): Violation[] =>
  [...graph.keys()]
    .filter((folder) => heightOf(folder) === undefined)
    .map((folder) => `${folder} is in no layer of scripts/architecture/layers.ts`);

/** Imports of a folder that is above the one that imports. */
const upwardImports = (tree: SourceTree): Violation[] =>
  [...importsOfTree(tree).values()]
    .flat()
    .filter(isBetweenFolders)
    .flatMap(({ file, target }) => {
      const [from, to] = [heightOf(folderOf(file)), heightOf(folderOf(target))];
      if (from === undefined || to === undefined || to <= from) return [];
      return [
        `${file} imports ${target} upward: the layer of ${layers[from]?.name} is below that of ${layers[to]?.name}`,
      ];
    });

/** The shortest way from one folder to another, both included; undefined when there is none. */
const wayBetween = (graph: Graph, from: string, to: string): string[] | undefined => {
  const ways = new Map([[from, [from]]]);
  for (const [folder, way] of ways) {
    if (folder === to) return way;
    for (const next of graph.get(folder)?.keys() ?? []) if (!ways.has(next)) ways.set(next, [...way, next]);
  }
  return undefined;
};

/** Circles of folders, each once, with one import of the circle. */
const cycles = (graph: Graph): Violation[] => {
  const found = new Map<string, Violation>();
  for (const [folder, targets] of graph)
    for (const [target, { file, target: imported }] of targets) {
      const back = wayBetween(graph, target, folder);
      if (!back) continue;
      const circle = [...back].sort().join(" ");
      if (!found.has(circle))
        found.set(circle, `${file} imports ${imported}, which leads back: ${[folder, ...back].join(" → ")}`);
    }
  return [...found.values()];
};

/** Folders without a layer, imports of a higher layer, and circles of folders. */
export const checkFolders = (tree: SourceTree): Violation[] => {
  const graph = graphOf(tree);
  return [...unknownFolders(graph), ...upwardImports(tree), ...cycles(graph)];
};

/** The import graph: a line for each folder with its layer and what it imports, the lowest first; then the totals. */
export const folderGraph = (tree: SourceTree): string[] => {
  const graph = graphOf(tree);
  const height = (folder: string): number => heightOf(folder) ?? layers.length;
  const lines = [...graph]
    .sort(([a], [b]) => height(a) - height(b) || (a < b ? -1 : 1))
    .map(([folder, targets]) => {
      const layer = layers[height(folder)]?.name ?? "no layer";
      return `${layer}: ${folder} → ${[...targets.keys()].sort().join(", ") || "nothing"}`;
    });
  const totals = `upward imports: ${upwardImports(tree).length}, cycles: ${cycles(graphOf(tree)).length}`;
  return [...lines, totals];
};
