import { describe, expect, test } from "vitest";
import { type Target, targetOf } from "../rules/target.ts";
import type { Visit } from "../visit/visit.ts";
import { createJudge } from "./judge.ts";
import { builtInRules, readJudgeRules } from "./read-rules.ts";
import type { Condition, Rule } from "./rules.ts";

const target = targetOf("https://www.site.example/a") as Target;

const visit: Visit = {
  status: 200,
  headers: {},
  url: "https://www.site.example/a",
  redirects: [],
  title: "",
  text: "",
  markup: "",
  frames: [],
  isBlank: undefined,
  error: undefined,
};

const judgeOf = (rules: Rule[]) =>
  createJudge({ rules, reasons: {}, notes: {}, versions: { builtIn: 1, own: undefined } });

const blocks = (name: string, any: Condition[], unless?: Condition[]): Rule => ({
  name,
  any,
  ...(unless && { unless }),
  verdict: "blocked",
  reason: name,
});

const holds = (condition: Condition, seen: Partial<Visit>): boolean =>
  judgeOf([blocks("it", [condition])])({ ...visit, ...seen }, target).verdict === "blocked";

/** A condition, a visit for which it holds, one for which it does not. */
const conditions: [Condition, Partial<Visit>, Partial<Visit>][] = [
  [{ status: [403] }, { status: 403 }, { status: 404 }],
  [{ status: ["4xx"] }, { status: 404 }, { status: undefined }],
  [{ header: { name: "x-a" } }, { headers: { "x-a": "" } }, { headers: { "x-b": "1" } }],
  [{ header: { name: "x-a", value: "yes" } }, { headers: { "x-a": "Yes!" } }, { headers: { "x-a": "no" } }],
  [{ header: { name: "x-a", value: "^*a$" } }, { headers: { "x-a": "a" } }, { headers: {} }],
  [{ title: "^denied$" }, { title: "Denied" }, { title: "Not denied" }],
  [{ text: ["one", "two"] }, { text: "Two" }, { text: "three" }],
  [{ markup: 'id="x"' }, { markup: '<p ID="x">' }, { text: 'id="x"' }],
  [{ frame: "captcha." }, { frames: ["https://a.example/", "https://captcha.example/"] }, { frames: [] }],
  [{ url: "/sorry/" }, { url: "https://www.site.example/sorry/1" }, {}],
  [{ redirect: "/sorry/" }, { redirects: ["https://www.site.example/sorry/1"] }, {}],
  [{ error: "^ERR_PROXY_" }, { error: "ERR_PROXY_CONNECTION_FAILED" }, {}],
  [{ textBelow: 3 }, { text: " ab " }, { text: "abc" }],
  [{ linksBelow: 2 }, { markup: "<a href=b>c</a><abbr>" }, { markup: "<a href=b>c</a><A\nhref=d>" }],
  [{ blank: true }, { isBlank: true }, { isBlank: undefined }],
  [{ otherDomain: true }, { url: "https://www.other.example/" }, { url: "https://m.site.example/" }],
  [{ otherDomain: true }, { url: "chrome-error://chromewebdata/" }, {}],
  [{ otherDomain: true }, { url: "http://10.0.0.1/" }, {}],
  [{ otherDomain: false }, {}, { url: "https://site.example.evil.example/" }],
  [{ status: [200], text: "a" }, { text: "a" }, { status: 201, text: "a" }],
];

test.each(conditions)("%j", (condition, good, bad) => {
  expect(holds(condition, good)).toBe(true);
  expect(holds(condition, bad)).toBe(false);
});

// LOOKUP-51
describe("rules", () => {
  const rules: Rule[] = [
    { name: "first-note", any: [{ text: "a" }], notes: ["one", "two"] },
    blocks("second", [{ text: "b" }, { title: "b" }], [{ url: "/b$" }]),
    { name: "third", any: [{ text: "a" }], verdict: "accessed", reason: "fine", notes: ["two"] },
    blocks("last", [{ text: "a" }]),
    { name: "last-note", any: [{ text: "a" }], notes: ["three"] },
  ];
  const judge = judgeOf(rules);

  test("decide in their order, and notes are collected from all that hold", () => {
    const both = { verdict: "blocked", reason: "second", rule: "second", notes: ["one", "two", "three"] };
    expect(judge({ ...visit, text: "ab" }, target)).toEqual(both);
    const accessed = { verdict: "accessed", reason: "fine", rule: "third", notes: ["one", "two", "three"] };
    expect(judge({ ...visit, text: "a" }, target)).toEqual(accessed);
  });

  test("hold for any of their conditions, unless another one does", () => {
    expect(judge({ ...visit, title: "b" }, target).rule).toBe("second");
    expect(judge({ ...visit, title: "b", url: "https://www.site.example/b" }, target).rule).toBeUndefined();
  });

  test("decide nothing where none holds", () => {
    const nothing = { verdict: "inconclusive", reason: "no_rule", rule: undefined, notes: [] };
    expect(judge(visit, target)).toEqual(nothing);
  });
});

const judge = createJudge(readJudgeRules({ builtIn: builtInRules }));
const page = { text: "The boats left the harbour before noon. ".repeat(10), markup: "<p>" };

// LOOKUP-52
test.each<[string, Partial<Visit>]>([
  ["no answer", { status: undefined }],
  ["a status of 1xx", { status: 103 }],
  ["no text", { text: "" }],
  ["another domain", { url: "https://www.other.example/" }],
  ["an address inside", { url: "https://10.0.0.1/" }],
])("a page with %s is not accessed", (_, seen) => {
  expect(judge({ ...visit, ...page }, target).verdict).toBe("accessed");
  expect(judge({ ...visit, ...page, ...seen }, target).verdict).toBe("inconclusive");
});

// LOOKUP-53
test.each([
  "ERR_PROXY_CONNECTION_FAILED",
  "ERR_TUNNEL_CONNECTION_FAILED",
  "ERR_UNEXPECTED_PROXY_AUTH",
  "ERR_MANDATORY_PROXY_CONFIGURATION_FAILED",
  "ERR_NO_SUPPORTED_PROXIES",
  "ERR_SOCKS_CONNECTION_FAILED",
] as const)("%s is the proxy's failure", (error) => {
  expect(judge({ ...visit, status: undefined, error }, target)).toMatchObject({
    verdict: "inconclusive",
    reason: "proxy_failed",
  });
});

// LOOKUP-53
test.each([
  ["ERR_CONNECTION_RESET", "connection_cut"],
  ["ERR_HTTP2_PROTOCOL_ERROR", "connection_cut"],
  ["ERR_QUIC_PROTOCOL_ERROR", "connection_cut"],
  ["ERR_CONNECTION_TIMED_OUT", "connection_failed"],
  ["ERR_TIMED_OUT", "connection_failed"],
  ["ERR_NAME_NOT_RESOLVED", "name_not_resolved"],
  ["ERR_CERT_DATE_INVALID", "tls_failed"],
  ["ERR_CONNECTION_REFUSED", "connection_failed"],
  ["ERR_BLOCKED_BY_CLIENT", "address_refused"],
  ["ERR_TOO_MANY_REDIRECTS", "redirect_loop"],
  ["ERR_UNEXPECTED", "navigation_failed"],
  ["TIMED_OUT", "timed_out"],
  ["TOO_LARGE", "too_large"],
  ["CRASHED", "crashed"],
  ["DOWNLOAD", "download"],
  ["BROWSER_GONE", "browser_gone"],
  ["ROBOTS_DISALLOWED", "robots_disallowed"],
] as const)("%s is %s", (error, reason) => {
  expect(judge({ ...visit, error }, target)).toMatchObject({ verdict: "inconclusive", reason });
});

test.each<[string, Partial<Visit>]>([
  ["server_error", { status: 500, text: "Internal Server Error" }],
  ["other_domain", { ...page, url: "https://www.other.example/" }],
])("%s says nothing of the site", (reason, seen) => {
  expect(judge({ ...visit, ...seen }, target)).toMatchObject({ verdict: "inconclusive", reason });
});

test("an answer of 4xx without a body is judged by its status", () => {
  const error = "ERR_HTTP_RESPONSE_CODE_FAILURE";
  expect(judge({ ...visit, status: 403, error }, target)).toMatchObject({ verdict: "blocked", reason: "forbidden" });
});
