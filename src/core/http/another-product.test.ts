import { describe, expect, test } from "vitest";
import { routes } from "../../cmd/features.ts";
import { anotherProduct } from "./another-product.ts";

// HTTP-42
describe("a path of another product", () => {
  test.each(["/apps", "/deployments/d1/events", "/invocations/i1/browsers", "/search", "/vault-provider-configs/c1"])(
    "is told apart by its code: %s",
    (path) => expect(anotherProduct(path)).toMatchObject({ code: "another_product" }),
  );

  test.each(["/", "", "/appsx", "/browsers/apps", "/Search", "//search", "/__proto__"])(
    "is no other path: %j",
    (path) => expect(anotherProduct(path)).toBeUndefined(),
  );

  test("is not one that is served", () => {
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.filter(({ path }) => anotherProduct(path))).toEqual([]);
  });
});
