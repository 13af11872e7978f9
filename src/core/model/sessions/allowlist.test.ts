import { expect, test } from "vitest";
import { type AllowlistRecord, changedAllowlist } from "./allowlist.ts";

const given = ["a.example"];
const list = { allowed_hosts: ["b.example"] };
const guarded = { ...list, expected_allowlist_revision: "1", mutation_id: "m" };
const changed: AllowlistRecord = { hosts: ["b.example"], revision: "2" };
const byGuarded: AllowlistRecord = { ...changed, base_revision: "1", mutation_id: "m" };
const removed: AllowlistRecord = { hosts: null, revision: "2" };

// NETWORK-17, NETWORK-18, NETWORK-19
test.each([
  ["the first change", undefined, list, changed],
  ["a further one", changed, list, { hosts: ["b.example"], revision: "3" }],
  ["one that names the present revision", undefined, guarded, byGuarded],
  ["the same once more", byGuarded, guarded, byGuarded],
  ["the same without its condition", byGuarded, list, { hosts: ["b.example"], revision: "3" }],
  ["another list with the same id", byGuarded, { ...guarded, allowed_hosts: ["c.example"] }, "stale"],
  ["one that names a former revision", changed, guarded, "stale"],
  ["the same id after another change", { ...changed, revision: "3" }, guarded, "stale"],
  ["none any more", changed, { allowed_hosts: null }, { hosts: null, revision: "3" }],
  ["none once more", removed, { allowed_hosts: null }, { hosts: null, revision: "3" }],
  ["a list after that", removed, list, "removed"],
])("%s", (_what, kept, asked, expected) => {
  const after = changedAllowlist({ given, kept }, asked);
  expect(after.ok ? after.record : after.why).toEqual(expected);
});

// NETWORK-18
test("there is nothing to change in a browser without a list", () => {
  expect(changedAllowlist({ given: undefined, kept: undefined }, list)).toEqual({ ok: false, why: "none" });
});
