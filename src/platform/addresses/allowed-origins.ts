/** Which origins an item may be filled into (ITEM-38). A list that is left out allows any page, an empty one none. */

import { z } from "zod";
import type { Problem } from "../rules/problem.ts";
import { hasSoundLabels } from "./host-pattern.ts";

type Origins = readonly string[] | undefined;

/** The origins that are in all lists, in the order of the first one; undefined when every list is left out. */
export const commonOrigins = (lists: readonly Origins[]): string[] | undefined => {
  const [first, ...others] = lists.filter((list) => list !== undefined);
  return first?.filter((origin) => others.every((list) => list.includes(origin)));
};

/**
 * Fills compare origins letter by letter. An origin in a form that no browser uses would match no page, so it is a
 * problem.
 */
export const originProblems = (origins: Origins, path: string): Problem[] =>
  (origins ?? []).flatMap((origin, index) => {
    const url = URL.parse(origin);
    const isName = url === null || hasSoundLabels(url.hostname);
    if (isName && url?.origin === origin) return [];
    const message = isName
      ? `write it as browsers do: ${url?.origin ?? "https://host"}`
      : "has an xn-- label that is no internationalised name";
    return [{ path: `${path}[${index}]`, message }];
  });

/** One problem for each origin of `own` beyond a limit. `of`: the limit's owner, e.g. `credential shop`. */
export const wideningProblems = (own: Origins, limits: { of: string; origins: Origins }[], path: string): Problem[] =>
  (own ?? []).flatMap((origin, index) => {
    const exceeded = limits.find(({ origins }) => origins !== undefined && !origins.includes(origin));
    return exceeded
      ? [{ path: `${path}[${index}]`, message: `${origin} is not among the allowed_origins of ${exceeded.of}` }]
      : [];
  });

// Origins whose pages may be filled: of a credential, of a connection, and of an item, each narrowing the one before.

/**
 * An origin in the form of browsers: no path, no default port. Unencrypted origins are allowed only on this machine,
 * for tests.
 */
const originPattern =
  /^(https:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])|http:\/\/(localhost|127\.0\.0\.1|\[::1\]))(:[1-9][0-9]{0,4})?$/;

/** A list of origins. `min`: 0 where an empty list means no page at all. */
export const originList = (min: 0 | 1) => z.array(z.string().max(300).regex(originPattern)).min(min).max(20);
