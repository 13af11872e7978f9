import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { byteRange } from "../../../src/core/http/send-file.ts";
import { compilePattern, fold, isPattern } from "../../../src/features/sites/judge/pattern.ts";
import { openSites, packSites, siteKey, writeSite } from "../../../src/features/sites/pack-sites.ts";
import { valuesOf } from "../../../src/features/sites/rules/recommend.ts";
import { targetOf, targetOfSite } from "../../../src/features/sites/rules/target.ts";
import { isAllowed, rulesFor } from "../../../src/features/sites/visit/ask-robots.ts";
import { originProblems } from "../../../src/platform/addresses/allowed-origins.ts";
import { addressGroup, clientAddressOf } from "../../../src/platform/addresses/client-address.ts";
import {
  hostMatcher,
  hostPatternProblem,
  privateHostProblem,
  serverHostProblem,
} from "../../../src/platform/addresses/host-pattern.ts";
import { parseRange } from "../../../src/platform/addresses/ip-range.ts";
import { canonicalHost, createNetworkFilter } from "../../../src/platform/addresses/network-filter.ts";
import { anyText, mutatedText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must } from "../target.ts";

const words = [
  "https://",
  "http://",
  "@",
  ":",
  "/",
  "//",
  "\\",
  "?",
  "#",
  ".",
  "..",
  "%2e",
  "%00",
  "%2F",
  "[::1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::a9fe:a9fe]",
  "127.1",
  "0x7f000001",
  "2130706433",
  "017700000001",
  "169.254.169.254",
  "10.0.0.5",
  "localhost",
  "example.com",
  "xn--",
  "。",
  "．",
  "ｅ",
  "ß",
  "\u00ad",
  "\u200d",
  ":443",
  ":80",
  ":0",
  ":65536",
  "co.uk",
  "github.io",
  "*.",
  "*",
];
const urls = [
  "https://www.example.com/a/b/?q=1#f",
  "http://example.co.uk:8080/x/../y",
  "https://user:pass@shop.example.com/",
  "https://münchen.example/%C3%A4",
  "http://93.184.216.34/",
  "https://[2606:2800:220:1:248:1893:25c8:1946]:8443/p",
  "https://a.b.c.github.io/",
];
const built = fc
  .tuple(
    fc.constantFrom("https:", "http:", "HTTPS:", "ftp:", "javascript:", ""),
    fc.constantFrom("//", "/", "\\\\", "///", ""),
    fc.array(fc.oneof(fc.constantFrom(...words), fc.webAuthority({ withUserInfo: true, withPort: true }), anyText(5)), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.oneof(fc.webPath(), anyText(12)),
  )
  .map(([scheme, slashes, hosts, path]) => `${scheme}${slashes}${hosts.join("")}${path}`);
const someUrl = fc.oneof(mutatedText(fc.constantFrom(...urls), { tokens: words }), built, fc.webUrl());

/** Which addresses are not public, as Node's own list of ranges says it. */
const notPublic = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const)
  notPublic.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  notPublic.addSubnet(net, prefix, "ipv6");

const isNotPublic = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, "");
  const family = isIP(bare);
  // A list of Node takes `::ffff:10.0.0.1` for 10.0.0.1.
  return family !== 0 && notPublic.check(bare, family === 4 ? "ipv4" : "ipv6");
};

/** A browser's way to the host of a URL, as WHATWG has it. */
const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/\.$/, "") ?? "";

type Place = Parameters<typeof targetOfSite>[0];

const checkLine = (place: Place): void => {
  const line = writeSite({ ...place, configurations: [] });
  const key = siteKey(place.scope, place.target);
  must(openSites(packSites(new Map([[key, line]])).packed).get(key) === line, `the line of ${key} is lost`);
};

const checkUrl = (text: string): void => {
  const target = targetOf(text);
  if (typeof target === "string") {
    must(target.length > 0, "no reason");
    return;
  }
  const { normalized, host, domain } = target;
  must(host === hostOf(text), `the host ${host} is not that of the URL: ${hostOf(text)}`);
  must(!isNotPublic(host) && host !== "localhost", `${host} is not public`);
  must(host === domain || host.endsWith(`.${domain}`), `${domain} is not of ${host}`);
  must(JSON.stringify(targetOf(normalized)) === JSON.stringify(target), `${normalized} is another target`);
  const { hash, search, username, password } = new URL(normalized);
  must(hash + search + username + password === "", "more than scheme, host, port and path");
  for (const [scope, value] of Object.entries(valuesOf(target))) {
    const place = { scope, target: value } as Place;
    const again = targetOfSite(place);
    must(typeof again !== "string" && valuesOf(again)[place.scope] === value, `${scope} ${value} is not found again`);
    if (scope === "exact" && value.length % 8 === 0) checkLine(place);
  }
};

const patterns = [
  "example.com",
  "*.example.com",
  "example.com:443",
  "10.0.0.5",
  "[fd00::5]:8080",
  "10.0.0.0/8",
  "fd00::/8",
  "*",
];

/**
 * The judge of browsers' connections: what a pattern of one site lets through is that site, as WHATWG reads the URL.
 */
const checkPattern = (pattern: string, url: string): void => {
  serverHostProblem(pattern);
  const isPrivate = privateHostProblem(pattern) === undefined;
  const isHost = hostPatternProblem(pattern) === undefined;
  if (!isHost && !isPrivate) return;
  const matches = hostMatcher(pattern);
  const { host = "", hostname = "", port: portText = "", protocol } = URL.parse(url) ?? {};
  const asked = canonicalHost(hostname);
  if (!asked || host === "") return;
  const port = Number(portText || (protocol === "http:" ? 80 : 443));
  const target = { ...asked, port };
  const judge = createNetworkFilter({
    allowedHosts: isHost ? [pattern] : undefined,
    privateHosts: isPrivate ? [pattern] : [],
  });
  const refusal = judge.host(target);
  if (isHost && !matches(target)) must(refusal !== undefined, `${host} is allowed by ${pattern}`);
  const [name = ""] = pattern.toLowerCase().split(":");
  const isName = /^[a-z]/.test(name) || name.startsWith("*.");
  if (!isHost || !isName || refusal !== undefined) return;
  const wanted = name.replace(/^\*/, "");
  const is = hostOf(url).toLowerCase();
  must(wanted.startsWith(".") ? is.endsWith(wanted) : is === wanted, `${is} is allowed by ${pattern}`);
};

const robots = "User-agent: *\nDisallow: /private\nAllow: /private/open$\nUser-agent: bot\nDisallow: /*.pdf$\n";

type Input =
  | { kind: "url"; url: string }
  | { kind: "pattern"; pattern: string; url: string }
  | { kind: "robots"; file: string; url: string }
  | { kind: "judge"; pattern: string; text: string }
  | { kind: "head"; remote: string; forwardedFor: string; range: string; origin: string };

const inputs: fc.Arbitrary<Input> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("url"), url: someUrl }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("pattern"),
      pattern: mutatedText(fc.constantFrom(...patterns), { tokens: words, mostChanges: 2 }),
      url: someUrl,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("robots"),
      file: mutatedText(fc.constant(robots), {
        tokens: ["*", "$", "%", "#", ":", "\r", "Allow: ", "Disallow: ", "User-agent: "],
      }),
      url: fc.webUrl({ withQueryParameters: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("judge"),
      pattern: mutatedText(fc.constantFrom("^access * denied$", "a*a*a*b", "*"), { tokens: ["*", "^", "$"] }),
      text: mutatedText(fc.constantFrom("Access was denied", "a".repeat(2000), "\u2018a\u2026 \u00a0")),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("head"),
      remote: mutatedText(fc.constantFrom("10.0.0.1", "::ffff:10.0.0.1", "[::1]:80"), { tokens: words }),
      forwardedFor: mutatedText(fc.constant("1.2.3.4, [2001:db8::1]:80, 10.0.0.2"), { tokens: words }),
      range: mutatedText(fc.constantFrom("bytes=0-99", "bytes=-5", "bytes=7-")),
      origin: mutatedText(fc.constant("https://example.com"), { tokens: words }),
    }),
  },
) as fc.Arbitrary<Input>;

const trusted = ["10.0.0.0/8", "::1/128"].flatMap((text) => parseRange(text) ?? []);

const checkJudge = ({ pattern, text }: Extract<Input, { kind: "judge" }>): void => {
  if (!isPattern(pattern)) return;
  const holds = compilePattern(pattern)(fold(text));
  // What the pattern is when it is written as a regular expression.
  const [start, end] = [pattern.startsWith("^"), pattern.endsWith("$")];
  const pieces = fold(pattern.slice(start ? 1 : 0, end ? -1 : undefined)).split("*");
  // It takes its time.
  if (pieces.length > 3 || text.length > 100) return;
  const body = pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[^]*");
  const wanted = new RegExp(`${start ? "^" : ""}${body}${end ? "$" : ""}`).test(fold(text));
  must(holds === wanted, `${holds} where a regular expression says ${wanted}`);
};

const checkHead = ({ remote, forwardedFor, range, origin }: Extract<Input, { kind: "head" }>): void => {
  const address = clientAddressOf({ remote, forwardedFor }, trusted);
  must(address === "unknown" || isIP(address) !== 0, `${address} is no address`);
  addressGroup(address);
  const part = byteRange(range, 100);
  must(part === undefined || (part.start >= 0 && part.start < part.end && part.end <= 100), JSON.stringify(part));
  if (originProblems([origin], "origins").length === 0) must(URL.parse(origin)?.origin === origin, "no origin");
};

export const target: FuzzTarget<Input> = {
  about:
    "URLs of lookups, names of sites, patterns of hosts, robots.txt, patterns of the judge, forwarded addresses: judged by the host that WHATWG reads, never a private one for a public one, and each name finds itself again.",
  inputs,
  open: () => ({
    check(input) {
      if (input.kind === "url") checkUrl(input.url);
      else if (input.kind === "pattern") checkPattern(input.pattern, input.url);
      else if (input.kind === "judge") checkJudge(input);
      else if (input.kind === "head") checkHead(input);
      else isAllowed(rulesFor(input.file, "bot"), input.url);
    },
  }),
};
