/**
 * Fields as pages build them, by mechanism: what a fill says of each. The table of docs/fillable-fields.md is made from
 * this list, and test/features/vaults/fill/widgets.slow.test.ts tries every row in a Chromium.
 */
import { codeBoxes } from "./code-boxes.ts";
import { frameworks } from "./frameworks.ts";
import { masks } from "./masks.ts";
import { plainFields } from "./plain-fields.ts";
import { reactions } from "./reactions.ts";

export type Widget = {
  /** The field as people would name it. */
  name: string;
  /** How it is built. */
  by: string;
  /** The body of the page. `{{other}}`: the origin of another site. */
  html: string;
  /** What is filled, by selector. */
  values: Record<string, string>;
  /** `completed`, the error of the last field, or the error of a refusal before anything is written. */
  says: "completed" | { failed: string } | { refused: string };
  /** An expression that is true in the page afterwards. */
  proof?: string;
};

export const widgets: Record<string, Widget[]> = {
  "Fields of HTML": plainFields,
  Frameworks: frameworks,
  "Masks and checks": masks,
  "One-time codes": codeBoxes,
  "Pages that react": reactions,
};
