import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../cmd/features.ts";
import { AppError } from "../../platform/base/errors.ts";
import { ignoredFields } from "./ignored-fields.ts";
import type { Route } from "./route.ts";
import { refuseUnserved, unservedFields } from "./unserved-fields.ts";

/** What the newest public client can send to each operation (test/clients/python/surface.py). */
const { operations: ofClient } = JSON.parse(
  readFileSync(new URL("../../../test/clients/sdk-surface.json", import.meta.url), "utf8"),
) as { operations: Record<string, { body?: string[]; query?: string[] }> };

/** Of operations of an item other than `fill`: there they are refused for their `type`. */
const ofOtherTypes = [
  ...["access_token", "access_token_expires_at", "amount", "bindings", "bindings[].field"],
  ...["bindings[].format", "bindings[].input_path"],
  ...["checkout", "checkout.amount", "checkout.browser_id", "checkout.currency", "checkout.environment"],
  ...["checkout.merchant_origin", "checkout.psp", "currency", "entry_id", "field", "goal", "input", "keywords"],
  ...["occurred_at", "reason", "status", "timeout_sec", "timeout_seconds", "tool_ref", "transaction_type"],
];

/** The names of a path's parameters may differ. */
const formOf = (operation: string): string => operation.replace(/\{\w+\}/g, "{}");

/** Always refused, whatever is asked. */
const alwaysRefused = [
  "updateVaultItem",
  ...["createExportDestination", "listExportDestinations", "updateExportDestination"],
];

/** A body with a value at a place such as `vaults[].name` or `values{}`. */
const bodyWith = (place: string): unknown =>
  place.split(".").reduceRight<unknown>((inner, step) => {
    const [, name = "", kind] = /^([^[{]*)(.*)$/.exec(step) ?? [];
    const value = kind === "[]" ? [inner] : kind === "{}" ? { any: inner } : inner;
    return { [name]: value };
  }, "x");

const refusal = (route: Route, body: unknown, query: Record<string, unknown> = {}): AppError | undefined => {
  try {
    refuseUnserved(route.operationId, body, query);
    return undefined;
  } catch (error) {
    return error as AppError;
  }
};

/** Whether a closed object of the schema refuses a field of the body by name. */
const isRefusedByName = ({ body: schema }: Route, body: unknown): boolean =>
  schema?.safeParse(body).error?.issues.some(({ code }: z.core.$ZodIssue) => code === "unrecognized_keys") ?? false;

const servedAt = (operation: string): Route | undefined =>
  routes.find(({ method, path }) => formOf(operation) === formOf(`${method.toUpperCase()} ${path}`));

const routeOf = (operation: string): Route => {
  const route = servedAt(operation);
  if (!route) throw new Error(`${operation} is not served`);
  return route;
};

describe("a field of the newest client", () => {
  // HTTP-32
  test.each(Object.entries(ofClient).filter(([operation]) => servedAt(operation)))(
    "takes effect or is refused by name: %s",
    (operation, { body = [], query = [] }) => {
      const route = routeOf(operation);
      if (alwaysRefused.includes(route.operationId)) return;
      // A body that is passed on as it comes is read by the browser's agent (test/features/files/agent).
      const read = route.stream ? [] : body;
      const dropped = read.filter((place) => {
        const given = bodyWith(place);
        return (
          ignoredFields({ body: route.body }, { body: given }) !== undefined &&
          !refusal(route, given) &&
          !isRefusedByName(route, given)
        );
      });
      const known = route.query instanceof z.ZodObject ? Object.keys(route.query.shape) : [];
      const notAsked = query.filter((name) => !known.includes(name) && !refusal(route, {}, { [name]: "x" }));
      // A field of an object that every entry of a list or of a union has is known: pools drop save_changes by their
      // rule (POOL-PATCH-1).
      const byRule = ["profile.save_changes", ...(route.operationId === "runVaultItemOperation" ? ofOtherTypes : [])];
      expect([...dropped.filter((place) => !byRule.includes(place)), ...notAsked]).toEqual([]);
    },
  );

  // HTTP-32
  test.each(Object.entries(unservedFields))(
    "is refused by its name, and the way out: %s",
    (operationId, { body = {}, query = {} }) => {
      const route = routes.find((each) => each.operationId === operationId);
      expect(route).toBeDefined();
      for (const place of Object.keys(body)) {
        const error = refusal(route as Route, bodyWith(place));
        const path = place.replaceAll("[]", "[0]");
        expect(error).toMatchObject({ code: "not_supported_here", details: [{ path }] });
        // A value of null could be meant as something, too.
        expect(
          refusal(route as Route, JSON.parse(JSON.stringify(bodyWith(place)).replace('"x"', "null"))),
        ).toBeInstanceOf(AppError);
        // What is refused is not served: it must leave the list when it is.
        expect(
          ignoredFields({ body: route?.body }, { body: bodyWith(place) }) !== undefined ||
            isRefusedByName(route as Route, bodyWith(place)),
        ).toBe(true);
      }
      for (const name of Object.keys(query))
        expect(refusal(route as Route, {}, { [name]: "x" })).toMatchObject({ details: [{ path: name }] });
    },
  );

  // HTTP-32
  test("is in the table of docs/clients.md when it is refused", () => {
    const page = readFileSync(new URL("../../../docs/clients.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    for (const [operationId, { body = {}, query = {} }] of Object.entries(unservedFields)) {
      const route = routes.find((each) => each.operationId === operationId);
      const own = rows.filter((row) => row.startsWith(`| \`${route?.method.toUpperCase()} ${route?.path}\` |`)).join();
      for (const [name, message] of [
        ...Object.entries(body),
        ...Object.entries(query).map(([key, text]) => [`?${key}`, text] as const),
      ]) {
        expect(own).toContain(`\`${name}\``);
        expect(own).toContain(message);
      }
    }
  });

  test("is not refused where it is served, or when it is not given", () => {
    expect(refusal(routeOf("POST /browser_pools"), { size: 1, memory: "8GiB", region: "us-east" })).toBeUndefined();
    expect(
      refusal(routeOf("POST /browsers"), { vaults: [{ id: "a" }], proxy: { id: "p" }, tags: { location: "x" } }),
    ).toBeUndefined();
    for (const body of [undefined, null, 3, "location", [], [{ location: 1 }]])
      expect(refusal(routeOf("POST /browsers"), body)).toBeUndefined();
  });
});
