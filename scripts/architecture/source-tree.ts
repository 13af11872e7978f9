/** Files of a tree: path within it, with forward slashes → text. */
export type SourceTree = ReadonlyMap<string, string>;

/** One thing that a tree breaks, as one line that starts with the file. */
export type Violation = string;

/** The files below `folder`, by their paths within it. */
export const below = (folder: string, tree: SourceTree): SourceTree =>
  new Map(
    [...tree]
      .filter(([file]) => file.startsWith(`${folder}/`))
      .map(([file, text]) => [file.slice(folder.length + 1), text]),
  );

/** Whether a file of src/ is code that Node or the console's pages run, and no test. */
export const isProductCode = (file: string): boolean => /\.(tsx?|mjs)$/.test(file) && !file.endsWith(".test.ts");
