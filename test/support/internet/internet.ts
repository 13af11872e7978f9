/**
 * A small internet on this machine: sites below the special-use name `.example`, each a domain of its own, and proxies
 * that stand for countries. A browser reaches it when its names lead to `address`: for one that a test starts by
 * `resolverFlag`, for the agent's by the variable `BROWSERPOOL_TEST_EXAMPLE_ADDRESS`.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { type ForwardingProxy, startForwardingProxy } from "../forwarding-proxy.ts";
import { ownAddress } from "../own-address.ts";
import { testCertificates } from "../test-certificates.ts";
import { hostileSites } from "./hostile-sites.ts";
import type { Place } from "./site.ts";
import { sites } from "./sites.ts";

/** The addresses from which the proxies reach the sites. */
const places: Readonly<Record<Place, string>> = { US: "127.77.0.1", DE: "127.77.0.2", JP: "127.77.0.3" };

export type Internet = {
  /** Where all names lead. Not loopback: a browser with network rules never reaches that. */
  address: string;
  /** Resolves the names for a Chromium without an agent. */
  resolverFlag: string;
  /** The URL of a site, by its name without `.example`. */
  url(site: string, path?: string): string;
  /** The proxies, one a country. */
  proxies: Readonly<Record<Place, ForwardingProxy>>;
  /** How many requests a site has got, without those of a robots.txt that it has not. */
  requests(site: string): number;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Sites that answer their robots.txt themselves; the others have none. */
const robotsSites = ["polite-shop", "endless-robots", "broken-shop"];

/** Sites that are not of the tables: nothing listens there; the same by TLS; its certificate is nobody's. */
const special = { dead: "dead", deadSecure: "dead-secure", untrusted: "untrusted" } as const;

const listen = async (server: Server, host: string): Promise<number> => {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

/** Starts all sites and proxies. */
export const startInternet = async (): Promise<Internet> => {
  await using parts = new AsyncDisposableStack();
  const address = ownAddress();
  const counts = new Map<string, number>();
  const all = { ...sites, ...hostileSites };
  const serve: RequestListener = (request, response) => {
    const name = /^([a-z-]+)\.example(?::|$)/.exec(request.headers.host ?? "")?.[1] ?? "";
    const path = new URL(request.url ?? "/", "http://x.example").pathname;
    response.on("error", () => undefined);
    if (path === "/favicon.ico") return void response.writeHead(404).end();
    if (path === "/robots.txt" && !robotsSites.includes(name)) return void response.writeHead(404).end();
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    const site = all[name];
    if (!site) return void response.writeHead(404).end();
    const from = request.socket.remoteAddress ?? "";
    const place = (Object.keys(places) as Place[]).find((one) => from.endsWith(places[one]));
    site({ request, path, place, nth, port: request.socket.localPort ?? 0 }, response);
  };
  const { certificate, key } = testCertificates(["DNS:untrusted.example"]);
  const plain = createServer(serve);
  const secure = createTlsServer({ cert: certificate, key }, serve);
  const close = (server: typeof plain | typeof secure) => async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(plain, "0.0.0.0");
  parts.defer(close(plain));
  const securePort = await listen(secure, "0.0.0.0");
  parts.defer(close(secure));
  const dead = createServer();
  const deadPort = await listen(dead, "127.0.0.1");
  dead.close();

  const names = Object.keys(all).map((name) => [`${name}.example:${port}`, { host: "127.0.0.1", port }] as const);
  const startProxy = async (place: Place): Promise<ForwardingProxy> =>
    parts.use(await startForwardingProxy({ host: address, from: places[place], sites: Object.fromEntries(names) }));
  const proxies = { US: await startProxy("US"), DE: await startProxy("DE"), JP: await startProxy("JP") };
  const kept = parts.move();
  return {
    address,
    resolverFlag: `--host-resolver-rules=MAP *.example ${address}`,
    url(site, path = "/") {
      if (site === special.untrusted) return `https://${site}.example:${securePort}${path}`;
      if (site === special.deadSecure) return `https://${site}.example:${deadPort}${path}`;
      return `http://${site}.example:${site === special.dead ? deadPort : port}${path}`;
    },
    proxies,
    requests: (site) => counts.get(site) ?? 0,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
