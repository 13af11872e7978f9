/** Makes the functions of a source file say that they run. */
import { createHash } from "node:crypto";
import { dirname, relative } from "node:path";
import { parseSource, type SyntaxNode, walk } from "../../../scripts/architecture/parse-source.ts";

/**
 * A function of a file, and where its text is. `hit`: what it says when it runs, its file below `src` and a digest of
 * its text.
 */
type FunctionPlace = { hit: string; start: number; end: number; body: SyntaxNode };

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * By content: a function that was measured is known again as long as it is the same, wherever it stands in the file by
 * then.
 */
const hitOf = (file: string, text: string): string =>
  `${file}#${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;

/** Where `hit.mjs` is in a copied tree, below its `src`. */
export const notingFile = "hit.mjs";

/** What a file says when it is loaded. */
export const loadedHit = (file: string): string => `${file}#loaded`;

/** All functions of a file that have a body, nested ones too, in the order in which they begin. */
export const functionsOf = (file: string, text: string): FunctionPlace[] => {
  const found: FunctionPlace[] = [];
  for (const statement of parseSource(file, text).statements)
    walk(statement as unknown as SyntaxNode, (node) => {
      const body = node.body as SyntaxNode | null | undefined;
      const { start, end } = node;
      if (functionTypes.has(node.type) && body)
        found.push({ hit: hitOf(file, text.slice(start, end)), start, end, body });
      return true;
    });
  return found;
};

/**
 * The text of a file below `src` in which every function notes that it runs, as does the file itself when it is loaded.
 */
export const instrumented = (file: string, text: string): string => {
  const insertions = functionsOf(file, text).flatMap(({ hit, body }) => {
    const note = `globalThis.noteHit?.(${JSON.stringify(hit)})`;
    if (body.type === "BlockStatement" || body.type === "FunctionBody")
      return [{ at: body.start + 1, text: `${note};` }];
    return [
      { at: body.start, text: `(${note},` },
      { at: body.end, text: ")" },
    ];
  });
  let noted = text;
  for (const insertion of insertions.toSorted((a, b) => b.at - a.at))
    noted = noted.slice(0, insertion.at) + insertion.text + noted.slice(insertion.at);
  const module = relative(dirname(file), notingFile);
  return `import ${JSON.stringify(module.startsWith(".") ? module : `./${module}`)}; globalThis.noteHit?.(${JSON.stringify(loadedHit(file))}); ${noted}`;
};
