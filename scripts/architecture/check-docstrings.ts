import type { SourceTree, Violation } from "./source-tree.ts";

/** Types say most by their fields, which have docstrings of their own where one is needed. */
const exported = /^export (?:async )?(?:const|function|class) (\w+)/;

/** Values that describe themselves: schemas with `.describe`, routes with a summary, names of Kubernetes resources. */
const describesItself = /= (z\.|wireSchema\(|defineRoute\()|: (ResourceType|Kind)</;

const hasDocstring = (lines: string[], index: number): boolean => {
  let above = index - 1;
  while (lines[above]?.startsWith("// biome-ignore")) above--;
  return lines[above]?.endsWith("*/") ?? false;
};

/** Exported functions, constants and classes that neither a docstring nor a comment at the top of their file explains. */
export const checkDocstrings = (tree: SourceTree): Violation[] =>
  [...tree]
    .filter(([file, text]) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !text.startsWith("/**"))
    .flatMap(([file, text]) => {
      const lines = text.split("\n");
      return lines.flatMap((line, index) => {
        const name = exported.exec(line)?.[1];
        if (name === undefined || describesItself.test(line) || hasDocstring(lines, index)) return [];
        return [`${file} exports ${name} without a docstring`];
      });
    });
