import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";
import type { Protocol } from "../../../platform/cdp/cdp-types.ts";
import type { BrowserPage } from "./connect-browser.ts";
import type { Visit } from "./visit.ts";
import { wallError } from "./wall-error.ts";

// robots.txt as RFC 9309 has it: which paths of a site a robot of this name may visit.

/** The most bytes of a file that are read: the RFC asks for 500 KiB at least. What comes after is not there. */
const maxRobotsBytes = 500 * 1024;

/** `pattern`: as compared, so percent-encoded in one way. */
type RobotsRule = { allows: boolean; pattern: string };

type Line = { key: string; value: string };

const lineOf = (text: string): Line | undefined => {
  const line = text.split("#", 1)[0] ?? "";
  const colon = line.indexOf(":");
  return colon < 0
    ? undefined
    : { key: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() };
};

/** One spelling of each path: what needs no percent-encoding has none, all else has it in upper case. */
const normalized = (path: string): string => {
  const encoded = path.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
  return encoded.replace(/%[0-9a-f]{2}/gi, (text) => {
    const character = String.fromCharCode(Number.parseInt(text.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : text.toUpperCase();
  });
};

/** The name that a line speaks of: `*`, or its letters, so that `Bot/2.1` means `bot`. */
const agentOf = (value: string): string =>
  value.startsWith("*") ? "*" : (/^[a-z_-]*/i.exec(value)?.[0] ?? "").toLowerCase();

/** The rules by the names that they are for: a name may have several groups. */
const groupsOf = (file: string): Map<string, RobotsRule[]> => {
  const groups = new Map<string, RobotsRule[]>();
  let group: RobotsRule[][] = [];
  let isNaming = false;
  const name = (agent: string): void => {
    const rules = groups.get(agent) ?? [];
    groups.set(agent, rules);
    group = isNaming ? [...group, rules] : [rules];
    isNaming = true;
  };
  const add = (rule: RobotsRule): void => {
    isNaming = false;
    // An empty rule matches nothing.
    if (rule.pattern !== "") for (const rules of new Set(group)) rules.push(rule);
  };
  for (const line of file
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .map(lineOf)) {
    if (line?.key === "user-agent") name(agentOf(line.value));
    else if (line?.key === "allow" || line?.key === "disallow")
      add({ allows: line.key === "allow", pattern: normalized(line.value) });
  }
  return groups;
};

/**
 * The rules of a file for the robot of this name: those of all groups that name it, or else those of the groups for
 * `*`.
 */
export const rulesFor = (file: string, agent: string): RobotsRule[] => {
  const groups = groupsOf(file);
  return groups.get(agentOf(agent)) ?? groups.get("*") ?? [];
};

/** Whether a pattern with `*` for any characters and `$` for the end matches the beginning of a path. */
const matches = (pattern: string, path: string): boolean => {
  const isWhole = pattern.endsWith("$");
  const [first = "", ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  const last = isWhole ? parts.pop() : undefined;
  if (isWhole && last === undefined) return path === first;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return last === undefined || (path.endsWith(last) && path.length - last.length >= at);
};

/**
 * Whether these rules let a robot visit this URL: the longest rule that matches says so, of two of one length the rule
 * that allows.
 */
export const isAllowed = (rules: readonly RobotsRule[], url: string): boolean => {
  const { pathname, search } = new URL(url);
  const path = normalized(pathname + search);
  if (pathname === "/robots.txt") return true;
  let best: RobotsRule | undefined;
  for (const rule of rules) {
    const length = best?.pattern.length ?? -1;
    const isBetter = rule.pattern.length > length || (rule.pattern.length === length && rule.allows);
    if (isBetter && matches(rule.pattern, path)) best = rule;
  }
  return best?.allows ?? true;
};

/** Documents stop before their body is read, so no more of it is loaded than we ask for. */
const beforeBodies = [{ resourceType: "Document" as const, requestStage: "Response" as const }];

type Answer = { status: number; requestId: string; error: Visit["error"] };

/** Whether this is an answer, and no failure and no redirect, which Chromium follows. */
const isAnswer = ({ responseStatusCode: status, responseHeaders = [] }: Protocol.Fetch.RequestPausedEvent): boolean =>
  status !== undefined &&
  !(status >= 300 && status < 400 && responseHeaders.some(({ name }) => /^location$/i.test(name)));

/** The answer to a GET of this URL in the page; text: why there is none. */
const answerOf = (page: CdpSession, url: string): Promise<Answer | `ERR_${string}`> => {
  const answer = Promise.withResolvers<Answer | `ERR_${string}`>();
  page.on("Fetch.requestPaused", (event) => {
    const { requestId, responseStatusCode: status = 0, responseHeaders = [] } = event;
    const headers = Object.fromEntries(responseHeaders.map(({ name, value }) => [name.toLowerCase(), value]));
    if (isAnswer(event)) answer.resolve({ status, requestId, error: wallError(headers) });
    else page.send("Fetch.continueRequest", { requestId }).catch(answer.reject);
  });
  page
    .send("Page.navigate", { url })
    .then(({ errorText = "ERR_FAILED" }) => answer.resolve(`ERR_${errorText.replace(/^(net::)?(ERR_)?/, "")}`))
    .catch(answer.reject);
  return answer.promise;
};

/** Reads the body of an answer up to the bound. */
const readBody = async (page: CdpSession, requestId: string): Promise<string> => {
  const { stream: handle } = await page.send("Fetch.takeResponseBodyAsStream", { requestId });
  const parts: Buffer[] = [];
  let left = maxRobotsBytes;
  while (left > 0) {
    const { data, eof, base64Encoded } = await page.send("IO.read", { handle, size: left });
    const part = Buffer.from(data, base64Encoded ? "base64" : "utf8");
    parts.push(part);
    left -= part.length;
    if (eof) break;
  }
  await page.send("IO.close", { handle });
  return Buffer.concat(parts).toString("utf8");
};

/**
 * Asks the site's robots.txt, by the browser itself, so that it takes the same way as the visit. Resolves with why
 * there must be no visit: the file says so, or the site fails to answer what it says; undefined when the visit may be.
 * A site that has no file allows all.
 */
export const askRobots = async ({ page }: BrowserPage, url: string, agent: string): Promise<Visit["error"]> => {
  await page.send("Fetch.enable", { patterns: beforeBodies });
  const answer = await answerOf(page, new URL("/robots.txt", url).href);
  if (typeof answer === "string") return answer;
  const { status, requestId, error } = answer;
  const file = status < 300 ? await readBody(page, requestId) : "";
  // The page stays where it was.
  await page.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
  await page.send("Fetch.disable");
  if (error) return error;
  if (status >= 500) return "ROBOTS_DISALLOWED";
  return status >= 300 || isAllowed(rulesFor(file, agent), url) ? undefined : "ROBOTS_DISALLOWED";
};
