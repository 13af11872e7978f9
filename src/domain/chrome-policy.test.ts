import { describe, expect, test } from "vitest";
import { chromePolicyProblems, maxChromePolicyBytes } from "./chrome-policy.ts";

const paths = (policy: Record<string, unknown>) => chromePolicyProblems(policy).map(({ path }) => path.join("."));

describe("a Chrome policy", () => {
  test("may set what the service leaves to its users", () => {
    const policy = {
      URLBlocklist: ["a.test"],
      PrintingEnabled: false,
      DefaultGeolocationSetting: 2,
      ManagedBookmarks: [{}],
      SSLVersionMin: "tls1.2",
    };
    expect(chromePolicyProblems(policy)).toEqual([]);
    expect(chromePolicyProblems({})).toEqual([]);
  });

  // POOL-16
  test.each([
    "ExtensionInstallForcelist",
    "ExtensionInstallBlocklist",
    "ExtensionInstallAllowlist",
    "ExtensionInstallSources",
    "ExtensionSettings",
    "BlockExternalExtensions",
    "3rdparty",
    "ProxyMode",
    "ProxyServer",
    "ProxyPacUrl",
    "ProxyBypassList",
    "ProxySettings",
    "RemoteDebuggingAllowed",
    "DeveloperToolsAvailability",
    "DeveloperToolsDisabled",
    "HeadlessMode",
    "CommandLineFlagSecurityWarningsEnabled",
    "CloudManagementEnrollmentToken",
  ])("may not set %s, which the service manages", (name) => {
    expect(chromePolicyProblems({ PrintingEnabled: true, [name]: 1 })).toEqual([
      { path: ["chromePolicy", name], message: expect.stringContaining("the service manages") },
    ]);
  });

  test.each(["printingEnabled", "Printing Enabled", "", "__proto__", "A", "Printing-Enabled"])(
    "may not be named %j",
    (name) => {
      const [found] = chromePolicyProblems(JSON.parse(`{${JSON.stringify(name)}: 1}`));
      expect(found).toEqual({ path: ["chromePolicy"], message: `${JSON.stringify(name)} is not the name of a policy` });
    },
  );

  test("may not be null", () => {
    expect(paths({ PrintingEnabled: null })).toEqual(["chromePolicy.PrintingEnabled"]);
  });

  // LIMIT-6
  test("may be 5 MiB when serialized, and not one byte more", () => {
    const frame = JSON.stringify({ Text: "" }).length;
    expect(chromePolicyProblems({ Text: "a".repeat(maxChromePolicyBytes - frame) })).toEqual([]);
    expect(paths({ Text: "a".repeat(maxChromePolicyBytes - frame + 1) })).toEqual(["chromePolicy"]);
    expect(paths({ Text: "ü".repeat(maxChromePolicyBytes / 2) })).toEqual(["chromePolicy"]);
  });

  test("with a great many faults is answered with the first twenty", () => {
    const policy = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`bad ${index}`, 1]));
    expect(chromePolicyProblems(policy)).toHaveLength(20);
  });
});
