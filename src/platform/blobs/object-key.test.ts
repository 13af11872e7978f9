import { expect, test } from "vitest";
import { checkKey } from "./blob-store.ts";
import { objectKey } from "./object-key.ts";

// PROFILE-28
test("no two objects have one key, whatever their names and namespaces are", () => {
  const long = "a".repeat(64);
  const names = ["work", "work.2", "work-2", long, `${long}a`, "a.b", "a-b", "1"];
  const keys = ["team-a", "team-b"].flatMap((namespace) =>
    names.map((name) => objectKey("profiles", { namespace, name })),
  );
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(() => checkKey(`${key}/1`)).not.toThrow();
  expect(objectKey("profiles", { namespace: "team-a", name: "work" })).toBe("profiles/team-a/work");
});

// PROFILE-28
test("a name that looks like the digest of another one is not its place", () => {
  const hashed = objectKey("profiles", { namespace: "a", name: "work.2" });
  const digest = hashed.split("/")[2] ?? "";
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(objectKey("profiles", { namespace: "a", name: digest })).not.toBe(hashed);
});
