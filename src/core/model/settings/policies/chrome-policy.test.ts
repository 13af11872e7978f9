import { describe, expect, test } from "vitest";
import { chromePolicyProblems, knownPolicies, maxChromePolicyBytes } from "./chrome-policy.ts";
import { refusalOfPolicy, refusedPolicyNames } from "./refused-policies.ts";

const paths = (policy: Record<string, unknown>) => chromePolicyProblems(policy).map(({ path }) => path.join("."));

describe("a Chrome policy", () => {
  test("may set what the service leaves to its users", () => {
    const policy = {
      URLBlocklist: ["a.test"],
      PrintingEnabled: false,
      DefaultGeolocationSetting: 2,
      ManagedBookmarks: [{ toplevel_name: "a" }, { name: "b", children: [{ name: "c", url: "https://c.test" }] }],
      ManagedConfigurationPerOrigin: [],
    };
    expect(chromePolicyProblems(policy)).toEqual([]);
    expect(chromePolicyProblems({})).toEqual([]);
  });

  // POOL-16
  test.each([
    ["ExtensionInstallForcelist", "the service manages extensions itself"],
    ["ExtensionSettings", "the service manages extensions itself"],
    ["BlockExternalExtensions", "the service manages extensions itself"],
    ["3rdparty", "the service manages extensions itself"],
    ["ProxyMode", "the service manages the proxy itself"],
    ["ProxySettings", "the service manages the proxy itself"],
    ["RemoteDebuggingAllowed", "the service manages CDP and automation itself"],
    ["DeveloperToolsAvailability", "the service manages CDP and automation itself"],
    ["DeveloperToolsDisabled", "the service manages CDP and automation itself"],
    ["HeadlessMode", "the service manages CDP and automation itself"],
    ["CommandLineFlagSecurityWarningsEnabled", "the service manages CDP and automation itself"],
    ["CloudManagementEnrollmentToken", "the service manages where policies come from itself"],
    ["PolicyTestPageEnabled", "the service manages where policies come from itself"],
    ["DnsOverHttpsTemplates", "the service manages how names are resolved itself"],
    ["AlternativeBrowserPath", "it can start programs beside the browser"],
    ["GSSAPILibraryName", "it loads a library of the machine into the browser"],
    ["DownloadDirectory", "the service manages where files are itself"],
    ["IdleTimeout", "the service manages when a browser starts and ends itself"],
    ["DataControlsRules", "Chromium takes it from Google's cloud management only"],
    ["RemoteAccessHostDomain", "it is for Chrome Remote Desktop, which browsers here don't have"],
  ])("may not set %s: %s", (name, why) => {
    expect(chromePolicyProblems({ PrintingEnabled: true, [name]: 1 })).toEqual([
      { path: ["chromePolicy", name], message: `is not allowed: ${why}` },
    ]);
  });

  // POOL-16
  test.each(["UserDataDir", "HomepageLocations", "DeviceUserAllowlist"])(
    "may not set %s, which Chromium does not know, or not on Linux",
    (name) => {
      expect(chromePolicyProblems({ [name]: "a" })).toEqual([
        { path: ["chromePolicy", name], message: expect.stringMatching(/^is no policy of Chromium \d/) },
      ]);
    },
  );

  test("is refused by names that Chromium has", () => {
    expect(refusedPolicyNames.filter((name) => name !== "3rdparty" && !knownPolicies.includes(name))).toEqual([]);
    expect(knownPolicies.filter((name) => refusalOfPolicy(name) === undefined).length).toBeGreaterThan(350);
  });

  // POOL-18
  test.each([
    [{ HomepageLocation: 5 }, "HomepageLocation", "must be a string"],
    [{ HomepageLocation: null }, "HomepageLocation", "must be a string"],
    [{ HomepageLocation: "a\ud800" }, "HomepageLocation", "must be text"],
    [{ PrintingEnabled: "true" }, "PrintingEnabled", "must be true or false"],
    [{ PrintingEnabled: null }, "PrintingEnabled", "must be true or false"],
    [{ DefaultCookiesSetting: "2" }, "DefaultCookiesSetting", "must be a whole number"],
    [{ DefaultCookiesSetting: 1.5 }, "DefaultCookiesSetting", "must be a whole number"],
    [{ DefaultCookiesSetting: 3 }, "DefaultCookiesSetting", "must be one of 1, 2, 4"],
    [{ DiskCacheSize: 2 ** 31 }, "DiskCacheSize", `must be ${-(2 ** 31)} to ${2 ** 31 - 1}`],
    [{ IncognitoModeAvailability: 2 }, "IncognitoModeAvailability", "must be 0 to 1"],
    [{ URLBlocklist: "a.test" }, "URLBlocklist", "must be a list"],
    [{ URLBlocklist: ["a.test", 5] }, "URLBlocklist.1", "must be a string"],
    [{ ManagedBookmarks: [[]] }, "ManagedBookmarks.0", "must be an object"],
    [{ ManagedBookmarks: [{ name: 1 }] }, "ManagedBookmarks.0.name", "must be a string"],
    [{ ManagedBookmarks: [{ title: "a" }] }, "ManagedBookmarks.0.title", "is not known to this policy"],
    [{ ManagedBookmarks: [{ children: [{ url: 1 }] }] }, "ManagedBookmarks.0.children.0.url", "must be a string"],
    [
      { ManagedConfigurationPerOrigin: [{ origin: "a", managed_configuration_url: "b" }] },
      "ManagedConfigurationPerOrigin.0.managed_configuration_hash",
      "is required",
    ],
    // Chromium crashes at its start with such a value.
    [{ BrowsingDataLifetime: [{ data_types: [] }] }, "BrowsingDataLifetime.0.time_to_live_in_hours", "is required"],
  ])("may not be %j", (policy, path, message) => {
    const [found, ...more] = chromePolicyProblems(policy);
    expect({ ...found, path: found?.path.join(".") }).toEqual({ path: `chromePolicy.${path}`, message });
    expect(more).toEqual([]);
  });

  const nested = (depth: number): object[] => (depth === 0 ? [] : [{ name: "a", children: nested(depth - 1) }]);

  test("is read by Chromium as deep as it may be nested, and no deeper one is tried", () => {
    expect(chromePolicyProblems({ ManagedBookmarks: nested(49) })).toEqual([]);
    expect(paths({ ManagedBookmarks: nested(50) })).toEqual(["chromePolicy"]);
    let endless: unknown = 1;
    for (let depth = 0; depth < 1_000_000; depth += 1) endless = [endless];
    expect(paths({ ManagedBookmarks: endless })).toEqual(["chromePolicy"]);
  });

  test.each(["printingEnabled", "Printing Enabled", "", "__proto__", "toString", "A", "Printing-Enabled"])(
    "may not be named %j",
    (name) => {
      const [found] = chromePolicyProblems(JSON.parse(`{${JSON.stringify(name)}: 1}`));
      expect(found).toEqual({ path: ["chromePolicy"], message: `${JSON.stringify(name)} is not the name of a policy` });
    },
  );

  // LIMIT-6
  test("may be 5 MiB when serialized, and not one byte more", () => {
    const frame = JSON.stringify({ HomepageLocation: "" }).length;
    expect(chromePolicyProblems({ HomepageLocation: "a".repeat(maxChromePolicyBytes - frame) })).toEqual([]);
    expect(paths({ HomepageLocation: "a".repeat(maxChromePolicyBytes - frame + 1) })).toEqual(["chromePolicy"]);
    expect(paths({ HomepageLocation: "ü".repeat(maxChromePolicyBytes / 2) })).toEqual(["chromePolicy"]);
  });

  test("with a great many faults is answered with the first twenty", () => {
    const policy = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`bad ${index}`, 1]));
    expect(chromePolicyProblems(policy)).toHaveLength(20);
  });
});
