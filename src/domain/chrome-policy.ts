/**
 * Checks the names and the total size of a pool's Chrome enterprise policies (POOL-16, LIMIT-6). The types of their values are not
 * checked: Chromium ignores a policy whose value it can't read.
 */
import { problemAt, type SpecProblem } from "./problem.ts";

/** Bytes of a policy as JSON (LIMIT-6). */
export const maxChromePolicyBytes = 5 * 1024 * 1024;

/** A request can contain very many bad names; the answer shows the first ones. */
const maxProblems = 20;

/**
 * Policies that the service manages itself. A pattern covers a family, because Chromium adds to these families with
 * every few releases.
 */
const managed: [RegExp, string][] = [
  // Which extensions are installed, from where and with what rights; "3rdparty" configures installed extensions.
  [/^Extension|^BlockExternalExtensions$|^MandatoryExtensionsForIncognitoNavigation$|^3rdparty$/, "extensions"],
  // ProxyMode, ProxyServer, ProxyPacUrl, ProxyBypassList, ProxySettings, ProxyOverrideRules…
  [/^Proxy/, "the proxy"],
  // CDP, the agent and the gateway need these: such a policy could switch off debugging or forbid headless mode.
  [
    /^RemoteDebugging|^DeveloperTools|^HeadlessMode$|^ChromeForTestingAllowed$|^CommandLineFlagSecurityWarningsEnabled$/,
    "CDP and automation",
  ],
  // Enrolment puts the browser under another party's policies, which override all of the above.
  [/^CloudManagementEnrollment|^CloudPolicyOverridesPlatformPolicy$/, "where policies come from"],
];

const policyName = /^[A-Z][A-Za-z0-9]{1,127}$/;

const entryProblem = (name: string, value: unknown): SpecProblem | undefined => {
  const family = managed.find(([pattern]) => pattern.test(name));
  if (family) return problemAt(["chromePolicy", name.slice(0, 128)], `the service manages ${family[1]} itself`);
  if (!policyName.test(name))
    return problemAt(["chromePolicy"], `${JSON.stringify(name.slice(0, 64))} is not the name of a policy`);
  return value === null ? problemAt(["chromePolicy", name], "must not be null") : undefined;
};

/** The problems of a pool's `chromePolicy`; empty when there are none. */
export const chromePolicyProblems = (policy: Record<string, unknown>): SpecProblem[] => {
  if (Buffer.byteLength(JSON.stringify(policy)) > maxChromePolicyBytes)
    return [problemAt(["chromePolicy"], "must not exceed 5 MiB when serialized")];
  return Iterator.from(Object.entries(policy))
    .map(([name, value]) => entryProblem(name, value))
    .filter((found) => found !== undefined)
    .take(maxProblems)
    .toArray();
};
