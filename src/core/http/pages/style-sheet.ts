import { readFileSync } from "node:fs";

const tokens = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

/** The style sheet of a page of ours: the tokens of all pages (tokens.css), then what is the page's own. */
export const styleSheet = (own: string): string => `${tokens}\n${own}`;
