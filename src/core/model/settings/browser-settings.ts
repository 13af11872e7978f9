/** The settings that pools and on-demand browsers share. */

import { z } from "zod";
import { closedObject, namesLike } from "../../../platform/kinds/document-rules.ts";
import { maxIdLength, ProxySelector, Selector } from "../../../platform/kinds/selector.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";

// The defaults of a browser's window (BROWSER-13, BROWSER-14, BROWSER-16).

type FullViewport = { width: number; height: number; refreshRate: number };

/** Pixels of a browser for which the caller gave no viewport. */
const defaultSize: Viewport = { width: 1920, height: 1080 };

/** The largest pixel counts that the presets give 60 Hz (1280x800) and 25 Hz (1920x1200); 2560x1440 has 10 Hz. */
const rates = [
  { maxPixels: 1280 * 800, refreshRate: 60 },
  { maxPixels: 1920 * 1200, refreshRate: 25 },
];

/** The same with a GPU: every recommended size has 60 Hz, larger ones have the next lower rate that is recommended. */
const gpuRates = [{ maxPixels: 1920 * 1200, refreshRate: 60 }];

/** Hz; lower for higher resolutions. Gives every preset its own rate (BROWSER-13). */
const refreshRateFor = (width: number, height: number, gpu: boolean): number =>
  (gpu ? gpuRates : rates).find(({ maxPixels }) => width * height <= maxPixels)?.refreshRate ?? (gpu ? 30 : 10);

/** The complete viewport that a browser is started with. */
export const resolveViewport = (viewport: Viewport | undefined, { gpu = false } = {}): FullViewport => {
  const { width, height, refreshRate } = viewport ?? defaultSize;
  return { width, height, refreshRate: refreshRate ?? refreshRateFor(width, height, gpu) };
};

// The profile selector of requests, in which an empty id or name means "none" (POOL-PATCH-2).

/** `none` clears the profile; `invalid` is `{}` or both id and name. */
type ProfileChoice = { kind: "profile"; profile: Selector } | { kind: "none" } | { kind: "invalid" };

/** An empty string beside a value counts as not given: `{id: "", name: "work"}` names `work`. */
export const chooseProfile = ({ id, name }: Selector): ProfileChoice => {
  if (id && name) return { kind: "invalid" };
  if (id) return { kind: "profile", profile: { id } };
  if (name) return { kind: "profile", profile: { name } };
  return id === undefined && name === undefined ? { kind: "invalid" } : { kind: "none" };
};

/** The problems of the profile of a new pool or browser. */
export const profileProblems = (profile: Selector | undefined): SpecProblem[] =>
  profile && chooseProfile(profile).kind === "invalid"
    ? [problemAt(["profile"], "give exactly one of id and name")]
    : [];

/** The largest number that the int32 fields of Kubernetes (e.g. of the scale subresource) hold. */
const maxInt32 = 2_147_483_647;

const pixels = (what: string) => z.int().min(1).max(maxInt32).describe(`${what} of the browser window in pixels.`);

export const Viewport = z.object({
  width: pixels("Width"),
  height: pixels("Height"),
  refreshRate: z
    .int()
    .min(1)
    .max(maxInt32)
    .optional()
    .describe("Refresh rate in Hz. Left out: chosen from the resolution, lower for higher resolutions."),
});
export type Viewport = z.infer<typeof Viewport>;

/** The longest host pattern (LIMIT-8). */
const hostPattern = z.string().min(1).max(255);

const ProxyRoute = z
  .object({
    hosts: z
      .array(hostPattern)
      .min(1)
      .max(256)
      .describe("Host patterns whose traffic takes this proxy, e.g. *.example.com."),
    proxy: ProxySelector.describe("The proxy, by id or by name."),
  })
  .describe("A proxy and the hosts it is for.");

const NetworkFields = z.object({
  allowedHosts: z
    .array(hostPattern)
    .max(1024)
    .optional()
    .describe("Host patterns that the browser may reach, e.g. *.example.com. Left out: no restriction."),
  privateHosts: z
    .array(hostPattern)
    .max(32)
    .optional()
    .describe(
      "Private hosts, addresses and CIDR ranges that the browser may reach. Left out: the private ranges (RFC 1918, 100.64.0.0/10, fc00::/7). An empty list: none.",
    ),
  proxyRoutes: z.array(ProxyRoute).max(64).optional().describe("Proxies for some hosts only; the first match counts."),
});
/** Closed: rules whose only field is misspelled would else be no rules. */
export const Network = closedObject(NetworkFields);
export type Network = z.infer<typeof Network>;

export const headless = z
  .boolean()
  .default(false)
  .describe("Run without a display. The live view shows such a browser, too.");
export const stealth = z.boolean().default(false).describe("Run in a way that bot detection notices less.");
const kioskMode = z.boolean().default(false).describe("Hide the address bar and the tabs of a headful browser.");

/** core/model/settings/policies/chrome-policy.ts checks the names and the size (5 MiB serialized). */
const chromePolicy = namesLike(
  z
    .record(z.string(), z.unknown())
    .describe(
      "Chrome enterprise policies by name. What the service manages itself (extensions, proxy, automation) is refused.",
    ),
  /^[A-Z][A-Za-z0-9]{1,127}$/,
);

const extensions = z
  .array(Selector.describe("An uploaded extension, by id or by name."))
  .max(20)
  .describe("Extensions to load, in this order.");

export const profile = Selector.describe("The profile that browsers start with, by id or by name.");

const proxyId = z.string().min(1).max(maxIdLength).describe("The id of the proxy that all traffic takes.");

/**
 * http, https, about:blank, data and the pages of extensions, without control characters. Others read the machine's
 * files (file), run in the page that is open (javascript) or are Chromium's own.
 */
const startUrlPattern =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
  /^([hH][tT][tT][pP][sS]?:\/\/[^\x00-\x20\x7f]|[dD][aA][tT][aA]:|chrome-extension:\/\/[a-p]{32}\/|about:blank$)[^\x00-\x1f\x7f]*$/;

/** What to say of a text that the pattern refuses. */
export const startUrlMessage =
  "must be a whole http, https, data or chrome-extension URL, or about:blank, without control characters";

const startUrl = z
  .string()
  .min(1)
  .max(2048)
  .regex(startUrlPattern, startUrlMessage)
  .describe("The URL that a new browser opens, best effort: http, https, data, chrome-extension, or about:blank.");

/** False for a text that fits the pattern and is no URL. What the pattern refuses is refused by that alone. */
export const isStartUrl = (text: string): boolean => !startUrlPattern.test(text) || URL.canParse(text);

/** The same in a request, where an empty text is none. */
export const startUrlOrNone = z
  .string()
  .max(2048)
  .regex(new RegExp(`^$|${startUrlPattern.source}`), startUrlMessage);

/** What pools and on-demand browsers have alike. */
export const sharedSettings = {
  headless,
  stealth,
  kioskMode,
  memory: z
    .enum(["8GiB", "16GiB"])
    .default("8GiB")
    .describe("Memory of a headful browser. One that runs keeps its own."),
  viewport: Viewport.optional().describe("Size of the browser window. Left out: 1920x1080 at 25 Hz."),
  startUrl: startUrl.optional(),
  proxyId: proxyId.optional(),
  extensions: extensions.optional(),
  chromePolicy: chromePolicy.optional(),
};

/** The shortest and the longest life of a lease, s; 72 hours (LEASE-33). */
export const maxSessionSeconds = z
  .int()
  .min(10)
  .max(259200)
  .describe(
    "Seconds after which a session ends, whatever happens (10 to 259200). Left out, and at most: what the installation allows, 72 hours by default.",
  );

export const reportOutcome = z
  .boolean()
  .describe(
    "Let the service judge, inside the browser's pod, what came of the session's first navigation to a public URL. The URL without query, fragment and login, the browser's settings, and whether the site let it in add to what the config registry knows, for all projects. Only of browsers with settings that the registry recommends (docs/config-registry.md). Needs an installation that takes it.",
  );

/** Seconds; the bounds are LIMIT-4 (72 hours). Defaults differ per kind. */
export const timeoutSeconds = z
  .int()
  .min(10)
  .max(259200)
  .describe("Seconds without a connection after which a browser in use is ended (10 to 259200).");
