import type { Kind } from "../edit.ts";
import { forgottenAwait, order } from "./await.ts";
import { bound } from "./bound.ts";
import { condition, guard, operand } from "./condition.ts";
import { field, filter, signal } from "./left-out.ts";
import { cleanUp, statement } from "./statement.ts";
import { unit } from "./unit.ts";
import { defaultValue, swappedArguments } from "./values.ts";

export const freshKinds = [
  "arguments",
  "await",
  "bound",
  "clean-up",
  "condition",
  "default",
  "field",
  "filter",
  "guard",
  "operand",
  "order",
  "signal",
  "statement",
  "unit",
] as const;

export type FreshKind = (typeof freshKinds)[number];

/** How each kind looks for its places in a syntax tree. */
export const allKinds: Readonly<Record<FreshKind, Kind>> = {
  arguments: swappedArguments,
  await: forgottenAwait,
  bound,
  "clean-up": cleanUp,
  condition,
  default: defaultValue,
  field,
  filter,
  guard,
  operand,
  order,
  signal,
  statement,
  unit,
};
