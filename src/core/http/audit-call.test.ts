import { expect, test } from "vitest";
import { newFacts, noteAnswer, noteError } from "./audit-call.ts";
import type { Route } from "./route.ts";

const secret = "a-passw0rd-by-mistake";
const route = (errorsAfterLookup: string[]): Route =>
  ({ method: "delete", path: "/vaults/{id_or_name}/items/{item}", errorsAfterLookup }) as unknown as Route;
const input = { params: { id_or_name: secret, item: "i" }, body: { session_id: "s", browser_id: secret } } as never;
const facts = () => ({
  ...newFacts({ request_id: "r", address: "10.0.0.1", method: "DELETE" }),
  object: "/vaults/{id_or_name}/items/{item}",
});

// AUDIT-1
test("what a refused request names is in its line only where the route has found it by then", () => {
  const unknown = facts();
  noteError(unknown, "not_found", route(["conflict"]), input);
  expect(JSON.stringify(unknown)).not.toContain(secret);
  expect(unknown).toMatchObject({ code: "not_found", object: "/vaults/{id_or_name}/items/{item}" });
  expect(unknown).not.toHaveProperty("session");
  const known = facts();
  noteError(known, "conflict", route(["conflict"]), input);
  expect(known).toMatchObject({ code: "conflict", object: `/vaults/${secret}/items/i`, session: "s" });
  const without = facts();
  noteError(without, "conflict", route(["conflict"]), undefined);
  expect(without.object).toBe("/vaults/{id_or_name}/items/{item}");
});

test("a request that was carried out names its objects, and those of its answer", () => {
  const done = facts();
  noteAnswer(done, route([]), { params: { id_or_name: "v", item: "i" }, body: {} } as never, {
    status: 200,
    body: { id: "new", session_id: "t" },
  });
  expect(done).toMatchObject({ object: "/vaults/v/items/i", object_id: "new", session: "t" });
});
