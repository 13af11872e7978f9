/**
 * The way of one connection out of a browser's namespace.
 *
 *   what is asked for ──checked──► the first route that matches, else the proxy ──► the parent proxy's own address
 *                                 none, or the host bypasses it ──► each address of the host, checked
 *
 * Connections go to addresses that were checked, so a name can't change its meaning in between.
 */
import type { Socket } from "node:net";
import type { NetworkSetup, ParentProxy } from "../../../core/protocol/browser-setup.ts";
import {
  type HostMatcher,
  hostMatcher,
  loopbackRanges,
  privateRanges,
  type Target,
} from "../../../platform/addresses/host-pattern.ts";
import { parseAddress } from "../../../platform/addresses/ip-range.ts";
import {
  canonicalHost,
  createNetworkFilter,
  createOpenFilter,
  type NetworkFilter,
} from "../../../platform/addresses/network-filter.ts";
import { urlHost } from "../../../platform/base/host-port.ts";
import { dial, dialFirst, dialTls, trusting } from "../../../platform/net/dial.ts";
import type { ResolveName } from "../../../platform/net/resolve-name.ts";

/** A rule does not allow the connection; the message says which. */
export class Refused extends Error {}

/** A parent proxy did not take the connection; the message is for users. */
export class ParentFailed extends Error {}

export type WayOut = {
  /**
   * Whether a page is told of a host that can't be reached. Without rules it finds its connection ended, as it would
   * without a proxy: a request that fails must not succeed with an answer of ours.
   */
  tellsOfHosts: boolean;
  /** Whether the rules let a connection to this target be. */
  allows(target: Target): boolean;
  /** The proxy that takes connections to this target; undefined when they go directly. Throws `Refused`. */
  parentOf(target: Target): Promise<ParentProxy | undefined>;
  /** Opens a connection to the target itself. Rejects with `Refused`, or when the target can't be reached. */
  direct(target: Target): Promise<Socket>;
  /**
   * Opens a connection to a parent proxy, on which the caller speaks HTTP. Rejects with `Refused` or `ParentFailed`.
   */
  toParent(parent: ParentProxy): Promise<Socket>;
};

type Route = { matches: HostMatcher[]; parent: ParentProxy; bypasses: HostMatcher[] };

const matchesAny = (matchers: HostMatcher[], target: Target): boolean => matchers.some((matches) => matches(target));

const routesOf = ({ routes, proxy, proxies }: NetworkSetup): Route[] => {
  const all = [...routes, ...(proxy === undefined ? [] : [{ hosts: ["*"], proxy }])];
  return all.map(({ hosts, proxy: id }) => {
    const parent = proxies.find((one) => one.id === id);
    if (!parent) throw new Error(`the setup has no proxy ${id}`);
    return { matches: hosts.map(hostMatcher), parent, bypasses: parent.bypass_hosts.map(hostMatcher) };
  });
};

const addressesOf = async ({ host, address }: Target, resolve: ResolveName): Promise<string[]> =>
  address ? [host] : resolve(host);

/** The addresses of the target that the filter allows, at least one. */
const allowedAddresses = async (target: Target, resolve: ResolveName, filter: NetworkFilter): Promise<string[]> => {
  let refusal: string | undefined;
  const allowed = (await addressesOf(target, resolve)).filter((text) => {
    const address = parseAddress(text);
    const why = address ? filter.address(target, address) : "no address";
    refusal ??= why;
    return why === undefined;
  });
  if (allowed.length === 0) throw new Refused(refusal);
  return allowed;
};

/** Connections that are being opened at the same time: a page can ask for very many, and hang up on each. */
const maxDialing = 512;

/** Refuses to begin more than `most` at the same time. */
const bounded = (most: number) => {
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) throw new Error("too many connections are being opened");
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
};

/** Rules of no network: a browser of local mode that has none. */
const noSetup: NetworkSetup = { routes: [], proxies: [] };

/** In local mode, a parent may be on the machine itself. */
const parentPlaces = [...privateRanges, ...loopbackRanges];

type WayOutOptions = {
  ownPorts?: readonly number[] | undefined;
  /** Called with the host of each direct connection, and the address that it went to. */
  onReached?: (host: string, address: string) => void;
};

/**
 * `given`: undefined where a browser without rules has a namespace, too (`ownPorts`): it reaches everything but these
 * ports. `resolve`: for every name, also for the names of parent proxies.
 */
export const createWayOut = (
  given: NetworkSetup | undefined,
  resolve: ResolveName,
  { ownPorts, onReached }: WayOutOptions = {},
): WayOut => {
  const setup = given ?? noSetup;
  const filter = given
    ? createNetworkFilter({ allowedHosts: given.allowed_hosts, privateHosts: given.private_hosts, ownPorts })
    : createOpenFilter(ownPorts ?? []);
  // A parent may be in a private network: whoever may choose proxies has named it. Metadata services are still no
  // parents.
  const parentFilter = createNetworkFilter(ownPorts ? { privateHosts: parentPlaces, ownPorts } : {});
  const routes = routesOf(setup);
  const trusted = new Map(setup.proxies.map((parent) => [parent, trusting(parent.ca_bundle)]));
  const inBounds = bounded(maxDialing);

  const check = (target: Target): void => {
    const refusal = filter.host(target);
    if (refusal !== undefined) throw new Refused(refusal);
  };
  return {
    tellsOfHosts: given !== undefined,
    allows: (target) => filter.host(target) === undefined,
    async parentOf(target) {
      check(target);
      const route = routes.find(({ matches }) => matchesAny(matches, target));
      if (!route || matchesAny(route.bypasses, target)) return undefined;
      // The parent resolves the name again. What it would reach by the answer that we get is checked at least.
      if (!target.address) {
        const addresses = await resolve(target.host).catch(() => []);
        for (const text of addresses) {
          const address = parseAddress(text);
          const refusal = address && filter.address(target, address);
          if (refusal !== undefined) throw new Refused(refusal);
        }
      }
      return route.parent;
    },
    async direct(target) {
      check(target);
      return inBounds(async () => {
        const addresses = await allowedAddresses(target, resolve, filter);
        const socket = await dialFirst(addresses, (address, signal) => dial(address, target.port, signal));
        if (socket.remoteAddress) onReached?.(target.host, socket.remoteAddress);
        return socket;
      });
    },
    async toParent(parent) {
      const { protocol, host: text, port } = parent;
      const host = canonicalHost(urlHost(text));
      if (!host) throw new Error("the proxy's host is none");
      return inBounds(async () => {
        const addresses = await allowedAddresses({ ...host, port }, resolve, parentFilter);
        return dialFirst(addresses, (address, signal) =>
          protocol === "http"
            ? dial(address, port, signal)
            : dialTls({ address, host: host.host, port }, trusted.get(parent), signal),
        );
      }).catch((error: unknown) => {
        if (error instanceof Refused) throw error;
        throw new ParentFailed("the proxy can't be reached");
      });
    },
  };
};
