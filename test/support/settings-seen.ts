/** A site and a proxy on this machine, and what the settings of a browser make of them. */
import { expect } from "vitest";
import { cookieOf, evaluate, withCdp } from "./raw-cdp.ts";
import { visit } from "./visit.ts";
import { ownAddress, ownPrivateAddress } from "./wall/machine.ts";
import { startPagesSite } from "./wall/pages-site.ts";
import { startTestParent } from "./wall/parent-proxy.ts";

/** What a browser shows of its settings. */
export type Seen = {
  /** The site's page, or why it is not there. */
  page: string;
  /** The extensions that have marked it (`markingExtension`). */
  marks: string[];
  /** Whether the page came through the proxy. */
  proxied: boolean;
  /** Those of `blockedHosts` that the policy forbids. */
  forbidden: string[];
  /** The login cookie of its profile (`loginArchive`). */
  login: string | undefined;
  /** Of a page, in pixels. */
  width: number;
};

/** Hosts for policies to forbid. Nothing listens there, and no name has to be resolved to find that out. */
export const blockedHosts = ["127.0.0.8", "127.0.0.9"] as const;

export type SettingsSite = {
  /** The address of the site, a private one where the machine has one. */
  host: string;
  /** The body of `POST /proxies` for the proxy. */
  proxy: { type: "custom"; protocol: "http"; config: { host: string; port: number } };
  /**
   * Expects this of a browser, and looks at nothing else. An extension takes a moment to mark a page, so the browser is
   * asked again until then.
   */
  expect(cdpUrl: string, expected: Partial<Seen>): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const forbiddenIn = async (cdpUrl: string): Promise<string[]> => {
  const found: string[] = [];
  for (const host of blockedHosts)
    if ((await visit(cdpUrl, `http://${host}/`)).error === "net::ERR_BLOCKED_BY_ADMINISTRATOR") found.push(host);
  return found;
};

/** Starts both. `extensions`: the names of all extensions of the test. */
export const startSettingsSite = async (extensions: readonly string[]): Promise<SettingsSite> => {
  await using parts = new AsyncDisposableStack();
  const host = ownPrivateAddress ?? ownAddress;
  const site = parts.use(await startPagesSite(host.replace(/^\[|\]$/g, "")));
  const parent = parts.use(await startTestParent());
  const url = site.page("<title>page</title>hello");
  const visited = async (cdpUrl: string): Promise<Pick<Seen, "page" | "marks" | "proxied">> => {
    const before = parent.asked.length;
    const { text, title, error } = await visit(cdpUrl, url);
    return {
      page: error ?? text,
      marks: extensions.filter((name) => title.split(" ").includes(name)),
      proxied: parent.asked.slice(before).some((asked) => asked.includes(site.host)),
    };
  };
  const see = async (cdpUrl: string, fields: ReadonlySet<string>): Promise<object> => ({
    ...(["page", "marks", "proxied"].some((field) => fields.has(field)) && (await visited(cdpUrl))),
    ...(fields.has("forbidden") && { forbidden: await forbiddenIn(cdpUrl) }),
    ...(fields.has("login") && { login: await withCdp(cdpUrl, (cdp) => cookieOf(cdp, "login")) }),
    ...(fields.has("width") && { width: await withCdp(cdpUrl, (cdp) => evaluate(cdp, "innerWidth")) }),
  });
  const kept = parts.move();
  return {
    host,
    proxy: { type: "custom", protocol: "http", config: { host: ownAddress, port: parent.port } },
    expect: (cdpUrl, expected) =>
      expect.poll(() => see(cdpUrl, new Set(Object.keys(expected))), { interval: 50 }).toMatchObject(expected),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
