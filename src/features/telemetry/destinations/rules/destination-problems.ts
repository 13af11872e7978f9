/** The rules of a telemetry destination that neither its schema nor CEL can express; for requests and YAML alike. */
import { hostMatcher, type Target } from "../../../../platform/addresses/host-pattern.ts";
import { contains, range } from "../../../../platform/addresses/ip-range.ts";
import {
  canonicalHost,
  createNetworkFilter,
  type NetworkFilter,
} from "../../../../platform/addresses/network-filter.ts";
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";
import type { TelemetryDestinationSpec } from "../telemetry-destination.ts";

// Which receivers telemetry may be sent to (TELEMETRY-22). Callers choose the endpoints, so each is checked by its host
// and again by each address that this host turns out to have, like what browsers reach. Private places, and loopback,
// are for the administrator to allow.

const loopback = ["127.0.0.0/8", "::1/128"].map(range);

/**
 * The filter of endpoints. `allowed`: patterns of private or loopback hosts, addresses and ranges. Link-local addresses
 * and metadata services are never reached, whatever is allowed. Throws for what is no pattern.
 */
export const createDestinationFilter = (allowed: readonly string[]): NetworkFilter => {
  const filter = createNetworkFilter({ privateHosts: allowed });
  const matchers = allowed.map(hostMatcher);
  const address: NetworkFilter["address"] = (target, one) => {
    const byAddress = { host: `${one}`, address: one, port: target.port };
    const isAllowed = matchers.some((matches) => matches(target) || matches(byAddress));
    const refusal =
      isAllowed && loopback.some((outer) => contains(outer, one)) ? undefined : filter.address(target, one);
    return refusal === undefined ? undefined : refusal.replace("private_hosts", "what the administrator allows");
  };
  return {
    address,
    host: (target) =>
      filter.host({ ...target, address: undefined }) ?? (target.address && address(target, target.address)),
  };
};

/** Headers that the exporter sets, or that are about the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

const isOwnHeader = (name: string): boolean => ownHeaders.has(name.toLowerCase()) || /^proxy-/i.test(name);

/** The usual spelling of a header's name: `x-api-key` → `X-Api-Key`. */
export const canonicalHeader = (name: string): string =>
  name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Where an endpoint leads; undefined when it is no URL with a host. */
export const endpointTarget = (endpoint: string): Target | undefined => {
  const url = URL.parse(endpoint);
  const host = url ? canonicalHost(url.hostname) : undefined;
  return url && host ? { ...host, port: Number(url.port) || (url.protocol === "https:" ? 443 : 80) } : undefined;
};

/** Scheme, host and port: who gets the headers. Empty for an endpoint that is no URL. */
export const endpointOrigin = (endpoint: string): string => URL.parse(endpoint)?.origin ?? "";

/** The URL that records are sent to. */
export const logsUrl = (endpoint: string): string => `${endpoint.replace(/\/+$/, "")}/v1/logs`;

const endpointProblem = (endpoint: string, filter: NetworkFilter): string | undefined => {
  const url = URL.parse(endpoint);
  const target = endpointTarget(endpoint);
  if (!url || !target || !/^https?:$/.test(url.protocol)) return "must be an http or https URL";
  if (url.username !== "" || url.password !== "") return "must have no login: give a header";
  if (/[?#]/.test(endpoint)) return "must have no query and no fragment";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\s\u0000-\u001f\u007f]/.test(endpoint)) return "must have no spaces and no control characters";
  if (/\/v1\/(logs|traces|metrics)\/*$/.test(url.pathname)) return "must be without the signal's path, which is added";
  const refusal = filter.host(target);
  return refusal === undefined ? undefined : `telemetry is not sent there: ${refusal}`;
};

const headerProblem = (name: string, index: number, names: string[]): string | undefined => {
  if (isOwnHeader(name)) return `${name} is set by the exporter`;
  const first = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
  return first < index ? `${name} is given twice` : undefined;
};

/** All problems of a spec that fits its schema; empty when there are none. */
export const destinationProblems = (
  { endpoint, headerNames = [] }: Pick<TelemetryDestinationSpec, "endpoint" | "headerNames">,
  filter: NetworkFilter,
): SpecProblem[] => {
  const wrong = endpointProblem(endpoint, filter);
  return [
    ...(wrong === undefined ? [] : [problemAt(["endpoint"], wrong)]),
    ...headerNames.flatMap((header, index) => {
      const message = headerProblem(header, index, headerNames);
      return message === undefined ? [] : [problemAt(["headerNames", index], message)];
    }),
  ];
};
