/** Makes the table of seeded bugs in docs/robustness.md. */
import { allBugs } from "../test/robustness/bugs/bugs.ts";
import { generateParts, table } from "./marked-part.ts";

/** Writes the table, or with `check` compares it. */
export const generateSeededBugs = (options: { check: boolean }): Promise<string> => {
  const rows = allBugs.map(({ name, breaks, foundBy }) => [`\`${name}\``, breaks, foundBy.join(", ")]);
  return generateParts("docs/robustness.md", { bugs: table(["bug", "what it breaks", "found by"], rows) }, options);
};
