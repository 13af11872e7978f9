import type { Visit } from "./visit.ts";

/** An answer with less text than this, characters, may be one that leads on by itself. */
const fewCharacters = 200;

/** Whether what was read may be a page on the way to another one. */
export const mayLeadOn = ({ text }: Pick<Visit, "text">, { status = 0 }: Pick<Visit, "status">): boolean =>
  status < 200 || status > 299 || text.length < fewCharacters;
