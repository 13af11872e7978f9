/** Makes the functions of a source file say that they run. */
import { dirname, relative } from "node:path";
import { parseSource, type SyntaxNode, walk } from "../../../scripts/architecture/parse-source.ts";

/** A function of a file: its number in the order in which they begin, and where its text is. */
type FunctionPlace = { number: number; start: number; end: number; body: SyntaxNode };

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** All functions of a file that have a body, nested ones too. */
export const functionsOf = (file: string, text: string): FunctionPlace[] => {
  const found: Omit<FunctionPlace, "number">[] = [];
  for (const statement of parseSource(file, text).statements)
    walk(statement as unknown as SyntaxNode, (node) => {
      const body = node.body as SyntaxNode | null | undefined;
      if (functionTypes.has(node.type) && body) found.push({ start: node.start, end: node.end, body });
      return true;
    });
  return found.map((place, number) => ({ number, ...place }));
};

/** What a function says: its file, below `src`, and its number. */
export const hitOf = (file: string, number: number | "loaded"): string => `${file}#${number}`;

/** The text of a file below `src` in which every function notes that it runs, as does the file itself when it is loaded. */
export const instrumented = (file: string, text: string): string => {
  const insertions = functionsOf(file, text).flatMap(({ number, body }) => {
    const note = `globalThis.noteHit?.(${JSON.stringify(hitOf(file, number))})`;
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
  const hit = relative(dirname(`src/${file}`), "test/mutations/fitting/hit.mjs");
  return `import ${JSON.stringify(hit)}; globalThis.noteHit?.(${JSON.stringify(hitOf(file, "loaded"))}); ${noted}`;
};
