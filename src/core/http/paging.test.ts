import { expect, test } from "vitest";
import { isWanted, Paging, pageOf } from "./paging.ts";

// HTTP-7
test("a page has 20 items when nobody says how many, and 100 at most", () => {
  expect(Paging.parse({})).toEqual({ limit: 20, offset: 0 });
  expect(Paging.parse({ limit: "100", offset: "7" })).toEqual({ limit: 100, offset: 7 });
  expect(Paging.safeParse({ limit: "101" }).success).toBe(false);
  for (const offset of ["", " ", "x", "1.5"]) expect(Paging.safeParse({ offset }).success).toBe(false);
});

// HTTP-8
test.each([
  [0, ["a", "b"], "true", "2"],
  [2, ["c", "d"], "true", "4"],
  [4, ["e"], "false", "0"],
  [3, ["d", "e"], "false", "0"],
  [9, [], "false", "0"],
])("the page from %i on has %j and tells where the next one starts", (offset, items, hasMore, next) => {
  const page = pageOf(["a", "b", "c", "d", "e"], { limit: 2, offset });
  expect(page).toMatchObject({ status: 200, body: items, headers: { "X-Has-More": hasMore, "X-Next-Offset": next } });
});

// HTTP-9
test.each([
  [{ name: "Team" }, true],
  [{ name: "team" }, false],
  [{ name: "Tea" }, false],
  [{ query: "EA" }, true],
  [{ query: "id1" }, true],
  [{ query: "id" }, false],
  [{}, true],
])("an item named Team with the id id1 is wanted by %j: %s", (query, wanted) => {
  expect(isWanted({ id: "id1", name: "Team" }, query)).toBe(wanted);
});
