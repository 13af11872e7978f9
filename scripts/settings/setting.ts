/** What the table of settings says of a field. Its names and, by default, its effect come from the schemas. */

import type { BrowserSpec } from "../../src/core/model/browsers/browser.ts";
import type { BrowserRequest } from "../../src/core/model/browsers/browser-wire.ts";
import type { BrowserPoolSpec } from "../../src/core/model/pools/browser-pool.ts";
import type { PoolPatch, PoolRequest } from "../../src/core/model/pools/browser-pool-wire.ts";
import type { BrowserFeature } from "../../src/core/model/settings/browser-features.ts";

type Below<Key extends string, Value> = Value extends readonly (infer Item)[]
  ? Item extends object
    ? `${Key}[].${PathsOf<Item>}`
    : Key
  : Value extends object
    ? string extends keyof Value
      ? Key
      : `${Key}.${PathsOf<Value>}`
    : Key;

/** Every field that holds a value, by its place in camelCase. A list of values and a free map are one field. */
type PathsOf<T> = { [Key in keyof T & string]-?: Below<Key, NonNullable<T[Key]>> }[keyof T & string];

/** Every field of a pool or a browser that is no condition, in YAML or over HTTP: `network.proxyRoutes[].hosts`. */
export type FieldPath =
  | PathsOf<BrowserPoolSpec & PoolRequest & Omit<PoolPatch, "expectedNetwork">>
  | PathsOf<BrowserSpec & BrowserRequest>;

/** When a change of a pool's field takes hold. */
type PoolTime = "at once" | "new browsers" | "next lease" | "next release" | "fixed";

/** When an on-demand browser's field takes hold. */
type BrowserTime = "at its start" | "at its start, and at once by a PATCH" | "at once";

/** What an installation must have. Without a feature the field is refused as `not_supported_here` (HTTP-30). */
type Need = BrowserFeature | "blob store" | "provider of proxies" | "organization's limits";

/** Tests that show the effect, by file: titles as they stand there. */
export type ShownBy = Readonly<Record<string, readonly string[]>>;

export type Setting = {
  /** Left out: what the schema says of the field. */
  effect?: string;
  /** What carries it out. */
  by: string;
  /** For each kind that has the field. */
  takesHold: { pool?: PoolTime; browser?: BrowserTime };
  needs?: readonly Need[];
  shownBy: ShownBy;
  /** What the field promises and nothing does yet. The check counts these. */
  gap?: string;
};
