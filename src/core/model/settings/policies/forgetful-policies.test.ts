import { expect, test } from "vitest";
import { forgetfulPolicyProblems } from "./forgetful-policies.ts";

const named = (
  chromePolicy: Record<string, unknown>,
  settings: object = { profile: { saveChanges: true } },
): unknown[] => forgetfulPolicyProblems({ chromePolicy, ...settings }).map(({ path }) => path[1]);

// PROFILE-26
test.each([
  ["ClearBrowsingDataOnExitList", ["cookies_and_other_site_data"]],
  ["BrowsingDataLifetime", [{ data_types: ["cookies_and_other_site_data"], time_to_live_in_hours: 1 }]],
  ["CookiesSessionOnlyForUrls", ["[*.]example.com"]],
  ["DefaultCookiesSetting", 4],
])("%s and save_changes exclude each other", (name, value) => {
  expect(named({ [name]: value })).toEqual([name]);
  expect(named({ [name]: value }, { savesProfile: true })).toEqual([name]);
  expect(named({ [name]: value }, { profile: { saveChanges: false } })).toEqual([]);
  expect(named({ [name]: value }, {})).toEqual([]);
});

test("what deletes nothing is taken", () => {
  expect(named({ DefaultCookiesSetting: 1, ClearBrowsingDataOnExitList: [], URLBlocklist: ["a.example"] })).toEqual([]);
});
