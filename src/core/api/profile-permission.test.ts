import { expect, test } from "vitest";
import { profilePermission, saveProfilePermission } from "./profile-permission.ts";

// PROFILE-22
test.each([
  [{ profile: { id: "p" } }, true, false],
  [{ profile: { name: "p" } }, true, false],
  [{ profile: { id: "p", save_changes: true } }, true, true],
  [{ profile: { name: "p", save_changes: true } }, true, true],
  [{ profile: { name: "p", save_changes: false } }, true, false],
  [{ profile: { id: "", name: "" } }, false, false],
  [{ profile: null }, false, false],
  [{}, false, false],
])("%j needs profiles:use: %s, profiles:write: %s", (body, uses, writes) => {
  expect([profilePermission.applies(body), saveProfilePermission.applies(body)]).toEqual([uses, writes]);
});
