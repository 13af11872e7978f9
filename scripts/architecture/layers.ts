/**
 * The layers of src/ from the bottom up. A file imports files of its own layer and of lower ones, never of a higher
 * one; that goes for types too. Folders of one layer form no circle. import-rules.ts narrows this down.
 */

/**
 * A layer: its name, and its folders or files. In a layer of `rooms`, each subfolder of its folders counts as a folder.
 */
type Layer = { name: string; folders: readonly string[]; rooms?: true };

export const layers: readonly Layer[] = [
  { name: "platform", folders: ["platform"], rooms: true },
  { name: "core", folders: ["core"], rooms: true },
  { name: "features", folders: ["features"], rooms: true },
  { name: "programs", folders: ["local", "cmd", "cli", "main.ts"] },
];
