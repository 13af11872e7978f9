import { expect, test } from "vitest";
import { isAllowed, rulesFor } from "./ask-robots.ts";

const mayVisit = (file: string, path: string, agent = "browserpool"): boolean =>
  isAllowed(rulesFor(file, agent), `https://site.example${path}`);

// LOOKUP-66
test.each([
  ["nothing is said", "", "/a", true],
  ["all is disallowed", "User-agent: *\nDisallow: /", "/a", false],
  ["the file itself is not", "User-agent: *\nDisallow: /", "/robots.txt", true],
  ["an empty rule disallows nothing", "User-agent: *\nDisallow:", "/a", true],
  ["a rule matches the beginning", "User-agent: *\nDisallow: /a", "/ab/c", false],
  ["the longest rule wins", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["of two as long the one that allows", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", true],
  ["our group, not that of all", "User-agent: *\nDisallow: /\n\nUser-agent: BrowserPool/1.0\nDisallow: /x", "/a", true],
  [
    "all of our groups",
    "User-agent: browserpool\nDisallow: /a\nUser-agent: other\nDisallow: /\nUser-agent: browserpool\nDisallow: /b",
    "/b",
    false,
  ],
  ["not the group after ours", "User-agent: browserpool\nDisallow: /a\nUser-agent: other\nDisallow: /b", "/b", true],
  ["not the group before ours", "User-agent: other\nDisallow: /b\nUser-agent: browserpool\nDisallow: /a", "/b", true],
  ["a group for several", "User-agent: other\nUser-agent: browserpool\nDisallow: /", "/a", false],
  ["lines of others part no group", "User-agent: browserpool\nSitemap: /s\nCrawl-delay: 3\nDisallow: /a", "/a", false],
  ["comments and spaces", " user-AGENT : * # all\r\n\tDISALLOW :  /a # here\r\n", "/a", false],
  ["a star", "User-agent: *\nDisallow: /*/private", "/a/b/private/c", false],
  ["a star that does not match", "User-agent: *\nDisallow: /*/private", "/private", true],
  ["an end", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf", false],
  ["an end that is not there", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf?b", true],
  ["only an end", "User-agent: *\nDisallow: /$", "/a", true],
  ["a query", "User-agent: *\nDisallow: /*?secret", "/a?secret=1", false],
  ["letters that are percent-encoded", "User-agent: *\nDisallow: /%61%7e", "/a~b", false],
  ["letters that are not", "User-agent: *\nDisallow: /straße", "/stra%c3%9fe", false],
  ["a slash that is percent-encoded is none", "User-agent: *\nDisallow: /a%2Fb", "/a/b", true],
  ["rules before any group", "Disallow: /\nUser-agent: other\nDisallow: /", "/a", true],
])("%s", (_, file, path, expected) => {
  expect(mayVisit(file, path)).toBe(expected);
});

test("a pattern of very many stars is decided at once", () => {
  const file = `User-agent: *\nDisallow: /${"*a".repeat(100_000)}$`;
  expect(mayVisit(file, `/${"a".repeat(2000)}b`)).toBe(true);
});
