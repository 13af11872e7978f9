import { readFileSync } from "node:fs";

/** The code blocks of a page of docs in one language, in order; `page`: e.g. `vault.md`. */
export const docExamples = (page: string, language: string): string[] => {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, block]) => block ?? "");
};
