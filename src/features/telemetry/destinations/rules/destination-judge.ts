/**
 * Which receivers telemetry may be sent to (TELEMETRY-22). Callers choose the endpoints, so each is judged by its host and again by each
 * address that this host turns out to have, like what browsers reach. Private places, and loopback, are for the administrator to allow.
 */
import { hostMatcher } from "../../../../platform/addresses/host-pattern.ts";
import { contains, range } from "../../../../platform/addresses/ip-range.ts";
import { createNetworkJudge, type NetworkJudge } from "../../../../platform/addresses/network-judge.ts";

const loopback = ["127.0.0.0/8", "::1/128"].map(range);

/**
 * The judge of endpoints. `allowed`: patterns of private or loopback hosts, addresses and ranges. Link-local addresses and metadata
 * services are never reached, whatever is allowed. Throws for a pattern that is none.
 */
export const createDestinationJudge = (allowed: readonly string[]): NetworkJudge => {
  const judge = createNetworkJudge({ privateHosts: allowed });
  const matchers = allowed.map(hostMatcher);
  const address: NetworkJudge["address"] = (target, one) => {
    const byAddress = { host: `${one}`, address: one, port: target.port };
    const isAllowed = matchers.some((matches) => matches(target) || matches(byAddress));
    const refusal =
      isAllowed && loopback.some((outer) => contains(outer, one)) ? undefined : judge.address(target, one);
    return refusal === undefined ? undefined : refusal.replace("private_hosts", "what the administrator allows");
  };
  return {
    address,
    host: (target) =>
      judge.host({ ...target, address: undefined }) ?? (target.address && address(target, target.address)),
  };
};
