/** Requests → a connection's spec (CONNECTION-1 to CONNECTION-3). */

import { mergeTelemetry } from "../../../../core/model/settings/telemetry.ts";
import { originProblems } from "../../../../platform/addresses/allowed-origins.ts";
import { hostPatternProblem } from "../../../../platform/addresses/host-pattern.ts";
import { fromWire } from "../../../../platform/kinds/wire.ts";
import { withoutUndefined } from "../../../../platform/rules/given-fields.ts";
import { type Problem, problemAt, type SpecProblem, wireProblems } from "../../../../platform/rules/problem.ts";
import { isHostOf } from "../../own-logins/rules/allowed-pages.ts";
import {
  type AuthConnectionSpec,
  ConnectionPatch,
  ConnectionRequest,
  type CreateConnection,
  credentialChoice,
  type LoginRequest,
  LoginSettings,
  type UpdateConnection,
} from "../auth-connection.ts";
import { unsupportedProblems } from "./connection-support.ts";

/** `unsupported`: the request is valid, but asks for what this installation can't carry out (CONNECTION-21). */
export type ConnectionResult =
  | { ok: true; spec: AuthConnectionSpec }
  | { ok: false; kind: "invalid" | "unsupported"; problems: Problem[] };

const credentialProblems = ({ credential }: ConnectionPatch): SpecProblem[] => {
  if (!credential) return [];
  const { name, provider, path, auto } = credential;
  const isElsewhere = path === undefined ? auto === true : provider !== undefined && auto !== true;
  const isRight = name === undefined ? isElsewhere : [provider, path, auto].every((field) => field === undefined);
  return isRight ? [] : [problemAt(["credential"], credentialChoice)];
};

const proxyProblems = ({ proxy }: ConnectionPatch): SpecProblem[] =>
  proxy && (proxy.id === undefined) === (proxy.name === undefined)
    ? [problemAt(["proxy"], "give exactly one of id and name")]
    : [];

const telemetryProblems = ({ browserTelemetry }: ConnectionPatch): SpecProblem[] => {
  const merged = mergeTelemetry(undefined, browserTelemetry);
  return merged.ok
    ? []
    : merged.problems.map(({ path, message }) => problemAt(["browserTelemetry", ...path.slice(1)], message));
};

/** Why a page is none where a login of this spec can begin, and whether its domains are names of hosts. */
const pageProblems = (spec: Pick<AuthConnectionSpec, "domain" | "loginUrl" | "allowedDomains">): SpecProblem[] => {
  const domains = (spec.allowedDomains ?? []).flatMap((domain, index) =>
    hostPatternProblem(domain) === undefined ? [] : [problemAt(["allowedDomains", index], "is not a host name")],
  );
  if (!spec.loginUrl) return domains;
  const url = URL.parse(spec.loginUrl);
  if (!url) return [...domains, problemAt(["loginUrl"], "is no URL")];
  if (url.username || url.password) return [...domains, problemAt(["loginUrl"], "must have no user or password")];
  return isHostOf(url.hostname, spec)
    ? domains
    : [...domains, problemAt(["loginUrl"], "must be a page of the domain or of one of allowed_domains")];
};

const problemsOf = (request: ConnectionPatch): Problem[] => [
  ...wireProblems(ConnectionRequest, [
    ...credentialProblems(request),
    ...proxyProblems(request),
    ...telemetryProblems(request),
  ]),
  ...originProblems(request.allowedOrigins ?? undefined, "allowed_origins"),
];

type Refusal = Extract<ConnectionResult, { ok: false }>;

/** Why a request is refused, from what it gives alone: a stored spec may have more by YAML. */
const refusalOf = (request: ConnectionPatch): Refusal | undefined => {
  const invalid = problemsOf(request);
  if (invalid.length > 0) return { ok: false, kind: "invalid", problems: invalid };
  const unsupported = wireProblems(ConnectionRequest, unsupportedProblems(request));
  return unsupported.length > 0 ? { ok: false, kind: "unsupported", problems: unsupported } : undefined;
};

/** Why the settings of one login are refused; they are among a connection's settings. */
export const loginRefusal = (request: LoginRequest): Refusal | undefined => refusalOf(fromWire(LoginSettings, request));

/** For these two null means none. */
const withoutNull = ({
  browserTelemetry,
  allowedOrigins,
  ...settings
}: Omit<ConnectionRequest, "domain" | "profileName">): Omit<AuthConnectionSpec, "domain" | "profileName"> => ({
  ...settings,
  ...(browserTelemetry && { browserTelemetry }),
  ...(allowedOrigins && { allowedOrigins }),
});

/** The spec, unless a login can't begin where it says. */
const sound = (spec: AuthConnectionSpec): ConnectionResult => {
  const problems = wireProblems(ConnectionRequest, pageProblems(spec));
  return problems.length > 0 ? { ok: false, kind: "invalid", problems } : { ok: true, spec };
};

/** The spec of a new connection, with the domain in lower case, so that domains can be compared. */
export const newConnectionSpec = (request: CreateConnection): ConnectionResult => {
  const { domain, profileName, ...settings } = fromWire(ConnectionRequest, request);
  const refusal = refusalOf(settings);
  if (refusal) return refusal;
  return sound({ domain: domain.toLowerCase(), profileName, ...withoutNull(settings) });
};

/** Replaces fields of the spec by the request's. */
export const patchConnectionSpec = (spec: AuthConnectionSpec, request: UpdateConnection): ConnectionResult => {
  const patch = fromWire(ConnectionPatch, request);
  const refusal = refusalOf(patch);
  if (refusal) return refusal;
  const { loginUrl, browserTelemetry, allowedOrigins, ...rest } = { ...spec, ...withoutUndefined(patch) };
  return sound({
    ...rest,
    ...(loginUrl && { loginUrl }),
    ...(browserTelemetry && { browserTelemetry }),
    ...(allowedOrigins && { allowedOrigins }),
  });
};
