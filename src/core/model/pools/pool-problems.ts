/** The rules of a pool's spec that neither its schema nor CEL can express; for requests and YAML alike. */

import { hostPatternProblem, privateHostProblem } from "../../../platform/addresses/host-pattern.ts";
import type { Path } from "../../../platform/kinds/wire.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { isStartUrl, type Network, startUrlMessage } from "../settings/browser-settings.ts";
import { type Location, locationProblems } from "../settings/location.ts";
import { chromePolicyProblems } from "../settings/policies/chrome-policy.ts";
import { forgetfulPolicyProblems } from "../settings/policies/forgetful-policies.ts";
import { mergeTelemetry } from "../settings/telemetry.ts";
import { sizeProblems } from "./autoscale/autoscale-problems.ts";
import { blankProblems } from "./blank-pool.ts";
import { type BrowserPoolSpec, refreshNeedsProfile } from "./browser-pool.ts";

type Reference = { id?: string | undefined; name?: string | undefined };

const selectorProblems = (path: Path, { id, name }: Reference): SpecProblem[] =>
  (id === undefined) === (name === undefined) ? [problemAt(path, "give exactly one of id and name")] : [];

/** A list can have very many bad hosts; an answer and a condition show the first ones. */
const mostHostProblems = 20;

const hostProblems = (path: Path, hosts: string[], check: (host: string) => string | undefined): SpecProblem[] =>
  Iterator.from(hosts.entries())
    .flatMap(([index, host]) => {
      const message = check(host);
      return message === undefined ? [] : [problemAt([...path, index], message)];
    })
    .take(mostHostProblems)
    .toArray();

/** The problems of a `network` block; paths start with `network`. */
const networkProblems = ({ allowedHosts = [], privateHosts = [], proxyRoutes = [] }: Network): SpecProblem[] => [
  ...hostProblems(["network", "allowedHosts"], allowedHosts, hostPatternProblem),
  ...hostProblems(["network", "privateHosts"], privateHosts, privateHostProblem),
  ...proxyRoutes.flatMap(({ hosts, proxy }, index) => [
    ...hostProblems(["network", "proxyRoutes", index, "hosts"], hosts, hostPatternProblem),
    ...selectorProblems(["network", "proxyRoutes", index, "proxy"], proxy),
  ]),
];

/** Settings with rules that do not depend on other settings. */
type Settings = Pick<Partial<BrowserPoolSpec>, "startUrl" | "extensions" | "chromePolicy" | "network"> & {
  profile?: (Reference & { saveChanges?: boolean | undefined }) | undefined;
  savesProfile?: boolean | undefined;
  location?: Location | undefined;
};

/** The problems of each setting by itself; a setting that is not given has none. */
export const settingProblems = ({
  startUrl = "",
  extensions = [],
  profile,
  savesProfile,
  chromePolicy,
  network,
  location,
}: Settings): SpecProblem[] => [
  ...(isStartUrl(startUrl) ? [] : [problemAt(["startUrl"], startUrlMessage)]),
  ...extensions.flatMap((extension, index) => selectorProblems(["extensions", index], extension)),
  ...(profile ? selectorProblems(["profile"], profile) : []),
  ...(chromePolicy ? chromePolicyProblems(chromePolicy) : []),
  ...forgetfulPolicyProblems({ chromePolicy, profile, savesProfile }),
  ...(network ? networkProblems(network) : []),
  ...locationProblems(location),
];

/** The problems between settings. */
export const refreshProblems = (spec: Pick<BrowserPoolSpec, "profile" | "refreshOnProfileUpdate">): SpecProblem[] =>
  spec.refreshOnProfileUpdate && !spec.profile ? [problemAt(["refreshOnProfileUpdate"], refreshNeedsProfile)] : [];

/** A rule that CEL can't express: it can't read a map of arbitrary values. */
const policyProblems = ({ chromePolicy, chromePolicyRef }: BrowserPoolSpec): SpecProblem[] =>
  chromePolicy && chromePolicyRef
    ? [problemAt(["chromePolicyRef"], "give only one of chromePolicy and chromePolicyRef; null removes this one")]
    : [];

/** All problems of a spec that fits its schema, e.g. one from YAML; empty when there are none. */
export const poolProblems = (spec: BrowserPoolSpec): SpecProblem[] => {
  const merged = mergeTelemetry(undefined, spec.telemetry);
  const problems = [
    ...sizeProblems(spec),
    ...blankProblems(spec),
    ...settingProblems(spec),
    ...policyProblems(spec),
    ...refreshProblems(spec),
  ];
  return [...problems, ...(merged.ok ? [] : merged.problems)];
};

/** Whether idle browsers are replaced when the pool's profile changes: as set, else whenever there is a profile. */
export const refreshesOnProfileUpdate = (spec: Pick<BrowserPoolSpec, "profile" | "refreshOnProfileUpdate">): boolean =>
  spec.refreshOnProfileUpdate ?? spec.profile !== undefined;
