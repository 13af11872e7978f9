/**
 * Checks whether proxies work, from the api's own process. Callers choose the addresses, so each is checked after its
 * name was resolved, and the connection goes to the address that was checked: nothing of the cluster's network can be
 * asked this way but what the installation names (`BROWSERPOOL_PROXY_CHECK_PRIVATE_HOSTS`). The answer tells nothing
 * but whether it worked.
 */
import type { Socket } from "node:net";
import type { ProxyCheckSettings } from "../../core/config/config.ts";
import type { ParentProxy } from "../../core/protocol/browser-setup.ts";
import { namesLoopback, type Target } from "../../platform/addresses/host-pattern.ts";
import { parseAddress } from "../../platform/addresses/ip-range.ts";
import { canonicalHost, createNetworkFilter, type NetworkFilter } from "../../platform/addresses/network-filter.ts";
import { AppError, invalidInput, notSupportedHere } from "../../platform/base/errors.ts";
import { urlHost } from "../../platform/base/host-port.ts";
import { awaitWith } from "../../platform/base/retry.ts";
import { dial, dialFirst, dialTls, trusting } from "../../platform/net/dial.ts";
import { createResolveName, type ResolveName } from "../../platform/net/resolve-name.ts";
import { type Answer, reachThrough } from "./reach-through.ts";

/** `ipAddress`: the address that the site has seen, when its answer says so. */
export type CheckResult = { status: "available" | "unavailable"; ipAddress?: string };

export type ProxyChecks = {
  /**
   * Checks a proxy. `url`: what a caller wants to reach; without it, what the installation names. Throws `bad_request`
   * for places that are not checked, `rate_limited` while too many checks run, and `not_supported_here` where checks
   * are off.
   */
  check(
    parent: ParentProxy,
    asked: { url: string | undefined; projectId: string; signal: AbortSignal },
  ): Promise<CheckResult>;
};

/** Time for a check, ms: proxies behind proxies take seconds. */
const checkMs = 15_000;

/** Checks at once: each holds a socket for up to `checkMs`. */
const mostInProject = 5;
const mostInAll = 50;

const refuse = (path: string, message: string): AppError => invalidInput([{ path, message }]);

const targetOf = (text: string, port: number): Target | undefined => {
  const host = canonicalHost(urlHost(text));
  return host && { ...host, port };
};

/**
 * The addresses of a target, each of them checked; undefined when it has none. Throws `bad_request` when one may not be
 * asked. No server is waited for after `signal` was aborted.
 */
const allowedAddresses = async (
  target: Target | undefined,
  { path, filter, resolve, signal }: { path: string; filter: NetworkFilter; resolve: ResolveName; signal: AbortSignal },
): Promise<string[] | undefined> => {
  if (!target) throw refuse(path, "is no host");
  const refusal = filter.host(target);
  if (refusal !== undefined) throw refuse(path, `is not checked: ${refusal}`);
  const texts = target.address ? [target.host] : await awaitWith(resolve(target.host), signal).catch(() => undefined);
  for (const text of texts ?? []) {
    const address = parseAddress(text);
    const why = address ? filter.address(target, address) : "it has no address";
    if (why !== undefined) throw refuse(path, `is not checked: ${why}`);
  }
  return texts;
};

/**
 * Connects to the first address that answers, with TLS for `https`. Nothing is tried any more after `signal` was
 * aborted.
 */
const connectTo = (parent: ParentProxy, addresses: string[], signal: AbortSignal): Promise<Socket> => {
  signal.throwIfAborted();
  const { protocol, host, port } = parent;
  const trusted = trusting(parent.ca_bundle);
  const name = host.replace(/^\[|\]$/g, "");
  return dialFirst(addresses, (address, won) => {
    const over = AbortSignal.any([won, signal]);
    return protocol === "http" ? dial(address, port, over) : dialTls({ address, host: name, port }, trusted, over);
  });
};

/** The address in the answer of a service that tells its caller's: as text, or as JSON with `ip`. */
const ipAddressIn = (body: string): string | undefined => {
  const text = body.trim();
  if (parseAddress(text)) return text;
  try {
    const { ip } = JSON.parse(text) as { ip?: unknown };
    return typeof ip === "string" && parseAddress(ip) ? ip : undefined;
  } catch {
    return undefined;
  }
};

/**
 * A site's own errors prove that it was reached. Without a URL nothing is, and only 407 says that the login is wrong.
 */
const isAvailable = ({ from, status }: Answer, url: URL | undefined): boolean =>
  url ? from === "site" : status !== 407 && status > 0;

const createCounter = () => {
  const running = new Map<string, number>();
  let all = 0;
  return {
    enter(projectId: string): () => void {
      const own = running.get(projectId) ?? 0;
      if (own >= mostInProject || all >= mostInAll)
        throw new AppError("rate_limited", "too many checks of proxies are running; repeat the request", {
          retryAfterSeconds: 2,
        });
      all += 1;
      running.set(projectId, own + 1);
      return () => {
        all -= 1;
        const left = (running.get(projectId) ?? 1) - 1;
        if (left === 0) running.delete(projectId);
        else running.set(projectId, left);
      };
    },
  };
};

/** `resolve`: for every name; by default by the machine's DNS servers. */
export const createProxyChecks = (
  settings: ProxyCheckSettings,
  resolve: ResolveName = createResolveName(),
): ProxyChecks => {
  // Loopback is the administrator's to allow, as private addresses are.
  const ownPorts = settings.privateHosts.some(namesLoopback) ? [] : undefined;
  const proxyFilter = createNetworkFilter({ privateHosts: settings.privateHosts, ownPorts });
  const targetFilter = createNetworkFilter({ privateHosts: [] });
  const counter = createCounter();

  const judgeTarget = async (text: string, signal: AbortSignal): Promise<void> => {
    const url = new URL(text);
    const target = targetOf(url.hostname, Number(url.port) || (url.protocol === "https:" ? 443 : 80));
    // The proxy resolves the name again; what it would reach by the answer that we get must be public at least.
    const addresses = await allowedAddresses(target, { path: "url", filter: targetFilter, resolve, signal });
    if (!addresses) throw refuse("url", "its host has no public address");
  };

  const run = async (parent: ParentProxy, asked: string | undefined, signal: AbortSignal): Promise<CheckResult> => {
    if (asked !== undefined) await judgeTarget(asked, signal);
    const target = targetOf(parent.host, parent.port);
    const addresses = await allowedAddresses(target, { path: "config.host", filter: proxyFilter, resolve, signal });
    const text = asked ?? settings.url;
    const url = text === undefined ? undefined : new URL(text);
    let socket: Socket | undefined;
    try {
      if (!addresses) return { status: "unavailable" };
      socket = await connectTo(parent, addresses, signal);
      const answer = await reachThrough(parent, { socket, url, signal });
      if (!isAvailable(answer, url)) return { status: "unavailable" };
      const ipAddress = asked === undefined ? ipAddressIn(answer.body) : undefined;
      return { status: "available", ...(ipAddress && { ipAddress }) };
    } catch {
      // Whatever went wrong on the way: it would tell of the network, and may quote what the other end has sent.
      return { status: "unavailable" };
    } finally {
      socket?.destroy();
    }
  };

  return {
    async check(parent, { url, projectId, signal }) {
      if (!settings.enabled)
        throw notSupportedHere([{ message: "this installation does not check proxies (BROWSERPOOL_PROXY_CHECKS)" }]);
      const leave = counter.enter(projectId);
      try {
        return await run(parent, url, AbortSignal.any([signal, AbortSignal.timeout(checkMs)]));
      } finally {
        leave();
      }
    },
  };
};
