import { expect, test } from "vitest";
import { addressProblem, foreignFields, placeOf } from "./provider-place.ts";

// PROVIDER-15
test.each([
  ["https://vault.example:8200", undefined],
  ["https://vault.example", "must be one of"],
  ["http://vault.example:8200", "must be one of"],
  ["https://vault.example:8201", "must be one of"],
  ["https://VAULT.example:8200", "must be one of"],
  ["https://vault.example:8200.evil.example", "must be one of"],
  ["https://a.vault.example:8200", "must be one of"],
])("with one allowed address, %s is a problem: %s", (address, problem) => {
  const told = addressProblem(address, ["https://vault.example:8200"]);
  if (problem === undefined) expect(told).toBeUndefined();
  else expect(told).toContain(problem);
  expect(addressProblem(address, [])).toContain("BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES");
});

// PROVIDER-3
test("a place has the fields of its type alone", () => {
  expect(foreignFields("kubernetes", { namespace: "a", address: "https://x", mount: "m" })).toMatchObject([
    { path: "address" },
    { path: "mount" },
  ]);
  expect(foreignFields("vault", { namespace: "a/b", label_selector: "" })).toMatchObject([{ path: "label_selector" }]);
  expect(placeOf("vault", { address: "https://x" })).toEqual({
    ...{ provider_type: "vault", address: "https://x", namespace: "", mount: "secret", path_prefix: "" },
  });
  expect(placeOf("vault", {})).toMatchObject({ path: "address" });
  expect(placeOf("kubernetes", { namespace: "team" })).toMatchObject({ namespace: "team", label_selector: "" });
  for (const namespace of [undefined, "", "a/b", "Team", "x".repeat(64)])
    expect(placeOf("kubernetes", { namespace })).toMatchObject({ path: "namespace" });
});
