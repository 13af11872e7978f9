import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import { claimedName, wireName } from "./identity.ts";

const pool = (name: string, specName?: string) => ({ metadata: storedMeta(name), spec: { name: specName } });

// HTTP-11
test("a pool goes by its spec's name, else by its own, but never by a generated id", () => {
  expect(wireName(pool("demo", "work"))).toBe("work");
  expect(wireName(pool("demo"))).toBe("demo");
  expect(wireName(pool("tz4a98xxat96iws9zmbrgj3a"))).toBeUndefined();
  expect(wireName(pool("tz4a98xxat96iws9zmbrgj3a", "work"))).toBe("work");
});

test("objects without a name claim nothing that another one claims", () => {
  const [one, two] = [pool("tz4a98xxat96iws9zmbrgj3a"), pool("az4a98xxat96iws9zmbrgj3a")];
  expect(claimedName(one)).not.toBe(claimedName(two));
  expect([claimedName(pool("demo")), claimedName(pool("a", "demo"))]).toEqual(["demo", "demo"]);
});
