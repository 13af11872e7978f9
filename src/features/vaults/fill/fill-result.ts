import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { fieldErrors } from "./fill-wire.ts";

/** The error of a field; callers get it unchanged. */
export type FieldError = (typeof fieldErrors)[number];

/** The result of one binding. `index`: its place in the request, from 0. */
export type FieldResult = {
  index: number;
  status: "filled" | "failed" | "not_attempted" | "unknown";
  error_code?: FieldError;
};

/**
 * `completed`: every field is filled. `unknown`: a write was sent and its result is not known; later fields were not
 * attempted.
 */
export type FillResult = {
  status: "completed" | "failed" | "unknown";
  /** One for each binding, in order. */
  fields: FieldResult[];
  /** The page's origin, for the audit; `null` as text for a page without one, such as about:blank. */
  origin: string;
};

/** A field and the value to write into it. */
export type Binding = {
  /** A CSS selector. */
  selector: string;
  /** Called at the write, so that a TOTP code is as fresh as possible. An error that it throws is not passed on. */
  value: () => Sensitive;
};

export type FillRefusal =
  | "page_not_found"
  | "page_ambiguous"
  | "invalid_selector"
  | "element_not_found"
  | "ambiguous_selector"
  | "element_not_editable"
  | "duplicate_target"
  | "origin_not_allowed"
  | "fill_in_progress"
  | "browser_not_ready";

const messages = {
  page_not_found: "no open page has this URL",
  page_ambiguous: "more than one open page is meant; close the others or name one by its exact URL",
  invalid_selector: "is not a CSS selector",
  element_not_found: "matches nothing in the page and its frames",
  ambiguous_selector: "matches more than one editable field",
  element_not_editable: "matches no visible, enabled input, textarea or select that takes text",
  duplicate_target: "matches the same field as an earlier binding",
  origin_not_allowed: "matches a field in a frame whose origin, or that of a frame around it, is not allowed",
  fill_in_progress: "another fill is at work in this browser",
  browser_not_ready: "the browser or the page did not answer in time; it may be busy or show a dialog",
} satisfies Record<FillRefusal, string>;

/**
 * Thrown when a fill ends before its first write: nothing in the page has changed. It has no cause, which could contain
 * page content.
 */
export class FillRefused extends Error {
  override name = "FillRefused";
  readonly code: FillRefusal;
  /** The bad binding, from 0; undefined when no binding is the cause. */
  readonly index: number | undefined;
  /** Whether the time for the fill was over. */
  readonly isLate: boolean;

  constructor(code: FillRefusal, index?: number, { isLate = false }: { isLate?: boolean } = {}) {
    super(index === undefined ? messages[code] : `fields[${index}].selector ${messages[code]}`);
    this.code = code;
    this.index = index;
    this.isLate = isLate;
  }
}
