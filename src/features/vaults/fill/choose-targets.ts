import type { Protocol } from "devtools-protocol";
import { FillRefused } from "./fill-result.ts";
import type { Frame } from "./frames.ts";
import type { FrameFields } from "./locate-fields.ts";

/** Pages of the browser itself; they have no login. */
const ownPages = /^(?:chrome|chrome-untrusted|chrome-extension|devtools):/;

/**
 * Chooses the open top-level page from the browser's list (FILL-12, FILL-13): the page with exactly this URL, fragment
 * included, or the only page. Throws `page_not_found` or `page_ambiguous`.
 */
export const choosePage = (targets: Protocol.Target.TargetInfo[], pageUrl: string | undefined): string => {
  const [page, ...others] = targets
    // A page with a subtype is prerendered and is not open yet.
    .filter(({ type, subtype }) => type === "page" && subtype === undefined)
    .filter(({ url }) => !ownPages.test(url))
    .filter(({ url }) => pageUrl === undefined || url === pageUrl);
  if (!page) throw new FillRefused("page_not_found");
  if (others.length > 0) throw new FillRefused("page_ambiguous");
  return page.targetId;
};

/** The field of a binding. `id`: its number in the frame. */
export type Target = { frame: Frame; id: number; selector: string };

/**
 * Tells of a frame whether it and all its ancestor frames have an allowed origin. A frame without a known origin is not
 * allowed. `allowed`: undefined allows every origin.
 */
export const frameFilter = (located: FrameFields[], allowed: string[] | undefined): ((frame: Frame) => boolean) => {
  const origins = new Map(located.map(({ frame, origin }) => [frame, origin]));
  return (frame) => {
    for (let each: Frame | undefined = allowed && frame; each; each = each.parent)
      if (!allowed?.includes(origins.get(each) ?? "")) return false;
    return true;
  };
};

const chooseTarget = (located: FrameFields[], selector: string, index: number): Target => {
  const findings = located.flatMap(({ frame, found }) =>
    found.slice(index, index + 1).map((one) => ({ ...one, frame })),
  );
  if (findings.some(({ isValid }) => !isValid)) throw new FillRefused("invalid_selector", index);
  const [target, ...others] = findings.flatMap(({ frame, editable }) =>
    editable.map((id) => ({ frame, id, selector })),
  );
  if (others.length > 0) throw new FillRefused("ambiguous_selector", index);
  if (target) return target;
  const isMatched = findings.some(({ matched }) => matched > 0);
  throw new FillRefused(isMatched ? "element_not_editable" : "element_not_found", index);
};

/**
 * Chooses the field of each selector from the findings of all frames. Throws `FillRefused` for the first bad selector:
 * it is not valid, or it matches no field, several fields, a field that is not editable, the field of an earlier
 * selector, or a field in a frame that is not allowed.
 */
export const chooseTargets = (
  located: FrameFields[],
  selectors: string[],
  isAllowed: (frame: Frame) => boolean,
): Target[] => {
  const targets: Target[] = [];
  for (const [index, selector] of selectors.entries()) {
    const target = chooseTarget(located, selector, index);
    if (targets.some(({ frame, id }) => frame === target.frame && id === target.id))
      throw new FillRefused("duplicate_target", index);
    if (!isAllowed(target.frame)) throw new FillRefused("origin_not_allowed", index);
    targets.push(target);
  }
  return targets;
};
