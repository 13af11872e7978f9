import { FillRefused } from "./fill-result.ts";
import type { Frame } from "./frames.ts";
import type { FrameFields } from "./locate-fields.ts";

/** The one field of a binding. `id`: its number in the frame. */
export type Target = { frame: Frame; id: number; selector: string };

/** Whether the frame and every frame around it have an allowed origin. One that could not say its origin has none. */
const isAllowed = (frame: Frame, origins: Map<Frame, string>, allowed: string[]): boolean => {
  for (let each: Frame | undefined = frame; each; each = each.parent)
    if (!allowed.includes(origins.get(each) ?? "")) return false;
  return true;
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
 * The field of each selector, from what all frames have found. Throws `FillRefused` for the first selector that is wrong:
 * it is none, or means no field or several, or one that is not editable, an earlier one's, or in a frame that is not
 * allowed. `allowedOrigins`: undefined allows every origin.
 */
export const chooseTargets = (
  located: FrameFields[],
  selectors: string[],
  allowedOrigins: string[] | undefined,
): Target[] => {
  const origins = new Map(located.map(({ frame, origin }) => [frame, origin]));
  const targets: Target[] = [];
  for (const [index, selector] of selectors.entries()) {
    const target = chooseTarget(located, selector, index);
    if (targets.some(({ frame, id }) => frame === target.frame && id === target.id))
      throw new FillRefused("duplicate_target", index);
    if (allowedOrigins && !isAllowed(target.frame, origins, allowedOrigins))
      throw new FillRefused("origin_not_allowed", index);
    targets.push(target);
  }
  return targets;
};
