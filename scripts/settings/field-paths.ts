/** Reads the fields of pools and browsers from their schemas. */
import type { z } from "zod";
import { BrowserSpec } from "../../src/core/model/browsers/browser.ts";
import { BrowserRequest } from "../../src/core/model/browsers/browser-wire.ts";
import { BrowserPoolSpec } from "../../src/core/model/pools/browser-pool.ts";
import { PoolPatch, PoolRequest } from "../../src/core/model/pools/browser-pool-wire.ts";
import { joinPath, type Path, wirePath } from "../../src/platform/kinds/wire.ts";
import { isArraySchema, isObjectSchema, isWrapperSchema } from "../../src/platform/kinds/zod-shape.ts";

type Owner = "pool" | "browser";

const places: readonly { owner: Owner; form: "yaml" | "http"; schema: z.ZodType }[] = [
  { owner: "pool", form: "yaml", schema: BrowserPoolSpec },
  { owner: "pool", form: "http", schema: PoolRequest },
  // A condition is no setting.
  { owner: "pool", form: "http", schema: PoolPatch.omit({ expectedNetwork: true }) },
  { owner: "browser", form: "yaml", schema: BrowserSpec },
  { owner: "browser", form: "http", schema: BrowserRequest },
];

/**
 * A field that holds a value. `yaml`, `http`: its names there; left out where it is none. `description`: the first
 * schema's.
 */
export type Field = { path: string; yaml?: string; http?: string; owners: Set<Owner>; description: string };

type Leaf = { path: Path; description: string };

const leavesOf = (schema: z.ZodType, path: Path = [], described = ""): Leaf[] => {
  const description = schema.description ?? described;
  if (isWrapperSchema(schema)) return leavesOf(schema.unwrap(), path, description);
  if (isObjectSchema(schema))
    return Object.entries(schema.shape).flatMap(([key, field]) => leavesOf(field, [...path, key]));
  if (!isArraySchema(schema)) return [{ path, description }];
  const inside = leavesOf(schema.element, [...path, 0], description);
  const isOfValues = inside.length === 1 && inside[0]?.path.length === path.length + 1;
  return isOfValues ? [{ path, description }] : inside;
};

const nameOf = (path: Path): string => joinPath(path).replaceAll("[0]", "[]");

/** All fields, in the order of the schemas. */
export const readFields = (): Field[] => {
  const fields = new Map<string, Field>();
  for (const { owner, form, schema } of places)
    for (const { path, description } of leavesOf(schema)) {
      const name = nameOf(path);
      const field = fields.get(name) ?? { path: name, owners: new Set(), description };
      field.owners.add(owner);
      field[form] = form === "yaml" ? name : nameOf(wirePath(schema, path));
      fields.set(name, field);
    }
  return [...fields.values()];
};
