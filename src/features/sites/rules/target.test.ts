import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxUrlLength } from "../site-recipe.ts";
import { targetOf } from "./target.ts";

/** URL → normalized, host, domain. */
const normalized: [string, string, string, string][] = [
  // Scheme, host, port, path.
  ["https://example.com", "https://example.com/", "example.com", "example.com"],
  ["https://example.com/", "https://example.com/", "example.com", "example.com"],
  ["http://example.com", "http://example.com/", "example.com", "example.com"],
  ["HTTPS://EXAMPLE.COM/", "https://example.com/", "example.com", "example.com"],
  ["https://Example.Com/Path", "https://example.com/Path", "example.com", "example.com"],
  ["https://www.example.com/a/b", "https://www.example.com/a/b", "www.example.com", "example.com"],
  ["https://example.com:443/a", "https://example.com/a", "example.com", "example.com"],
  ["http://example.com:80/a", "http://example.com/a", "example.com", "example.com"],
  ["http://example.com:443/a", "http://example.com:443/a", "example.com", "example.com"],
  ["https://example.com:8443", "https://example.com:8443/", "example.com", "example.com"],
  ["https://example.com:08443/", "https://example.com:8443/", "example.com", "example.com"],
  ["https://example.com:/a", "https://example.com/a", "example.com", "example.com"],
  ["https://example.com/a/", "https://example.com/a", "example.com", "example.com"],
  ["https://example.com/a//", "https://example.com/a", "example.com", "example.com"],
  ["https://example.com//", "https://example.com/", "example.com", "example.com"],
  ["https://example.com//a", "https://example.com//a", "example.com", "example.com"],
  ["https://example.com/a/./b/../c", "https://example.com/a/c", "example.com", "example.com"],
  ["https://example.com/a/%2e%2E/b", "https://example.com/b", "example.com", "example.com"],
  ["https://example.com/../..", "https://example.com/", "example.com", "example.com"],
  ["https://example.com?q=1", "https://example.com/", "example.com", "example.com"],
  ["https://example.com/a?q=1#f", "https://example.com/a", "example.com", "example.com"],
  ["https://example.com/#/a/b", "https://example.com/", "example.com", "example.com"],
  ["https://example.com/a/?q", "https://example.com/a", "example.com", "example.com"],
  ["https://example.com/a;v=1", "https://example.com/a;v=1", "example.com", "example.com"],
  ["http://example.com:0080/a", "http://example.com/a", "example.com", "example.com"],
  ["https://example.com:65535/", "https://example.com:65535/", "example.com", "example.com"],
  ["https://example.com/./", "https://example.com/", "example.com", "example.com"],
  ["https://example.com/?", "https://example.com/", "example.com", "example.com"],
  // What browsers forgive.
  [" https://example.com/ ", "https://example.com/", "example.com", "example.com"],
  ["https://exam\nple.com/\ta", "https://example.com/a", "example.com", "example.com"],
  ["https:example.com", "https://example.com/", "example.com", "example.com"],
  ["https:/example.com", "https://example.com/", "example.com", "example.com"],
  ["https:///example.com", "https://example.com/", "example.com", "example.com"],
  ["https:\\\\example.com\\a", "https://example.com/a", "example.com", "example.com"],
  // Percent-encoding: of the host it is decoded, of the path it stays.
  ["https://ex%41mple.com/", "https://example.com/", "example.com", "example.com"],
  ["https://example.com/%7Ea", "https://example.com/~a", "example.com", "example.com"],
  ["https://example.com/a%2Fb/", "https://example.com/a%2Fb", "example.com", "example.com"],
  ["https://example.com/a b", "https://example.com/a%20b", "example.com", "example.com"],
  ["https://example.com/ä", "https://example.com/%C3%A4", "example.com", "example.com"],
  ["https://example.com/%", "https://example.com/%", "example.com", "example.com"],
  ["https://example.com/%00", "https://example.com/%00", "example.com", "example.com"],
  // Users and passwords.
  ["https://user@example.com/", "https://example.com/", "example.com", "example.com"],
  ["https://user:pw@example.com/a", "https://example.com/a", "example.com", "example.com"],
  ["https://a.com@b.com/", "https://b.com/", "b.com", "b.com"],
  ["https://b.com\\@a.com/", "https://b.com/@a.com", "b.com", "b.com"],
  // IDNA.
  ["https://münchen.de/", "https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
  ["https://MÜNCHEN.de/", "https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
  ["https://xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
  ["https://straße.de", "https://xn--strae-oqa.de/", "xn--strae-oqa.de", "xn--strae-oqa.de"],
  ["https://example。com", "https://example.com/", "example.com", "example.com"],
  ["https://ｅｘａｍｐｌｅ.com", "https://example.com/", "example.com", "example.com"],
  ["https://еxample.com", "https://xn--xample-2of.com/", "xn--xample-2of.com", "xn--xample-2of.com"],
  ["https://例え.jp/", "https://xn--r8jz45g.jp/", "xn--r8jz45g.jp", "xn--r8jz45g.jp"],
  [
    "https://www.食狮.公司.cn",
    "https://www.xn--85x722f.xn--55qx5d.cn/",
    "www.xn--85x722f.xn--55qx5d.cn",
    "xn--85x722f.xn--55qx5d.cn",
  ],
  // Dots at the end, labels.
  ["https://example.com./a", "https://example.com/a", "example.com", "example.com"],
  ["https://EXAMPLE.com.:443/", "https://example.com/", "example.com", "example.com"],
  ["https://1.example.com/", "https://1.example.com/", "1.example.com", "example.com"],
  ["https://a_b.example.com/", "https://a_b.example.com/", "a_b.example.com", "example.com"],
  [
    `https://${"a".repeat(63)}.com/`,
    `https://${"a".repeat(63)}.com/`,
    `${"a".repeat(63)}.com`,
    `${"a".repeat(63)}.com`,
  ],
  // The Public Suffix List, with its private part.
  ["https://www.example.co.uk/", "https://www.example.co.uk/", "www.example.co.uk", "example.co.uk"],
  ["https://a.b.c.example.com.au/", "https://a.b.c.example.com.au/", "a.b.c.example.com.au", "example.com.au"],
  ["https://me.github.io/", "https://me.github.io/", "me.github.io", "me.github.io"],
  ["https://x.me.github.io/", "https://x.me.github.io/", "x.me.github.io", "me.github.io"],
  [
    "https://bucket.s3.amazonaws.com/",
    "https://bucket.s3.amazonaws.com/",
    "bucket.s3.amazonaws.com",
    "bucket.s3.amazonaws.com",
  ],
  ["https://www.city.kawasaki.jp/", "https://www.city.kawasaki.jp/", "www.city.kawasaki.jp", "city.kawasaki.jp"],
  ["https://co.uk/", "https://co.uk/", "co.uk", "co.uk"],
  ["https://github.io/", "https://github.io/", "github.io", "github.io"],
  ["https://shop.example/", "https://shop.example/", "shop.example", "shop.example"],
  ["https://a.b.unknown-suffix/", "https://a.b.unknown-suffix/", "a.b.unknown-suffix", "b.unknown-suffix"],
  // Addresses: each is its own domain.
  ["https://8.8.8.8/a/", "https://8.8.8.8/a", "8.8.8.8", "8.8.8.8"],
  ["http://134744072/", "http://8.8.8.8/", "8.8.8.8", "8.8.8.8"],
  ["http://0x8.0x8.0x8.0x8/", "http://8.8.8.8/", "8.8.8.8", "8.8.8.8"],
  ["http://010.8.8.8/", "http://8.8.8.8/", "8.8.8.8", "8.8.8.8"],
  ["http://8.8.2056/", "http://8.8.8.8/", "8.8.8.8", "8.8.8.8"],
  ["http://8.524296/", "http://8.8.0.8/", "8.8.0.8", "8.8.0.8"],
  ["https://0x01.1.1.1/", "https://1.1.1.1/", "1.1.1.1", "1.1.1.1"],
  ["https://1.1.1.1./", "https://1.1.1.1/", "1.1.1.1", "1.1.1.1"],
  ["https://[2606:4700::1111]/", "https://[2606:4700::1111]/", "[2606:4700::1111]", "[2606:4700::1111]"],
  ["https://[2606:4700:0::1111]/a/", "https://[2606:4700::1111]/a", "[2606:4700::1111]", "[2606:4700::1111]"],
  [
    "https://[2606:4700:0:0:0:0:0:1111]:8443/",
    "https://[2606:4700::1111]:8443/",
    "[2606:4700::1111]",
    "[2606:4700::1111]",
  ],
];

const name = "the host is no name of DNS";
const address = "the address is not public";
const refused: [string, string][] = [
  ["", "is no URL"],
  ["example.com", "is no URL"],
  ["//example.com", "is no URL"],
  ["https://", "is no URL"],
  ["https://?q", "is no URL"],
  ["https://exa mple.com", "is no URL"],
  ["https://example.com:99999", "is no URL"],
  ["https://example.com:a", "is no URL"],
  ["https://[::1", "is no URL"],
  ["https://[2606:4700::1111%25eth0]/", "is no URL"],
  ["https://256.1.1.1", "is no URL"],
  ["https://1.2.3.4.5", "is no URL"],
  ["https://ex<ample.com", "is no URL"],
  ["https://a%00b.com", "is no URL"],
  ["ftp://example.com/", "must be an http or https URL"],
  ["ws://example.com/", "must be an http or https URL"],
  ["file:///etc/passwd", "must be an http or https URL"],
  ["javascript:alert(1)", "must be an http or https URL"],
  ["data:text/html,x", "must be an http or https URL"],
  ["view-source:https://example.com/", "must be an http or https URL"],
  ["blob:https://example.com/1", "must be an http or https URL"],
  [`https://example.com/${"a".repeat(maxUrlLength)}`, "must have at most 2048 characters"],
  [`https://example.com/${"ä".repeat(500)}`, "must have at most 2048 characters"],
  ["https://a..com", name],
  ["https://.example.com", name],
  ["https://example.com..", name],
  ["https://*.example.com", name],
  ["https://-a.example.com", name],
  ["https://a-.example.com", name],
  ["https://a!b.example.com", name],
  ["https://xn--.com", name],
  [`https://${"a".repeat(64)}.com`, name],
  [`https://${"a.".repeat(126)}com`, name],
  ["https://intranet/", "a host of one label is not public"],
  ["https://com/", "a host of one label is not public"],
  ["https://localhost/", "a host of one label is not public"],
  ["https://a.localhost/", "names under .localhost are not public"],
  ["https://printer.local/", "names under .local are not public"],
  ["https://db.internal:8443/", "names under .internal are not public"],
  ["https://DB.INTERNAL./", "names under .internal are not public"],
  ["https://site.test/", "names under .test are not public"],
  ["https://a.invalid/", "names under .invalid are not public"],
  ["https://a.onion/", "names under .onion are not public"],
  ["https://router.home.arpa/", "names under .home.arpa are not public"],
  ["http://127.0.0.1/", address],
  ["http://127.1/", address],
  ["http://2130706433/", address],
  ["http://0x7f000001/", address],
  ["http://0177.0.0.1/", address],
  ["http://0/", address],
  ["http://10.0.0.1/", address],
  ["http://172.16.0.1/", address],
  ["http://192.168.1.1./", address],
  ["http://100.64.0.1/", address],
  ["http://169.254.169.254/latest/meta-data", address],
  ["http://192.0.2.1/", address],
  ["http://198.18.0.1/", address],
  ["http://203.0.113.9/", address],
  ["http://224.0.0.1/", address],
  ["http://255.255.255.255/", address],
  ["http://168.63.129.16/", address],
  ["http://[::]/", address],
  ["http://[::1]/", address],
  ["http://[::ffff:127.0.0.1]/", address],
  ["http://[::ffff:8.8.8.8]/", address],
  ["http://[fd00::1]/", address],
  ["http://[fe80::1]/", address],
  ["http://[ff02::1]/", address],
  ["http://[2001:db8::1]/", address],
  ["http://[64:ff9b::a00:1]/", address],
  ["http://[2002:a00:1::]/", address],
];

// LOOKUP-10, LOOKUP-11, LOOKUP-12, LOOKUP-13, LOOKUP-14, LOOKUP-15, LOOKUP-16
describe("a public URL", () => {
  test.each(normalized)("%s is %s", (url, ...[text, host, domain]) => {
    expect(targetOf(url)).toEqual({ normalized: text, host, domain });
  });
  test.each(normalized)("%s normalized stays as it is", (_, text, host, domain) => {
    expect(targetOf(text)).toEqual({ normalized: text, host, domain });
  });
});

// LOOKUP-2, LOOKUP-3
test.each(refused)("%s is refused", (url, why) => {
  expect(targetOf(url)).toBe(why);
});

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .tuple(fc.constantFrom("http://", "https://", "https:"), fc.string({ unit: "grapheme" }))
    .map((parts) => parts.join("")),
  fc
    .tuple(fc.domain(), fc.constantFrom("", ".", ":443", ":8443", "..", "%2e"), fc.string({ unit: "grapheme" }))
    .map(([host, tail, path]) => `https://${host}${tail}/${path}`),
  fc
    .oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6().map((text) => `[${text}]`),
    )
    .map((host) => `http://${host}/`),
);

test("nothing makes it throw, and what is normalized stays as it is", () => {
  fc.assert(
    fc.property(hostile, (url) => {
      const target = targetOf(url);
      if (typeof target === "string") return;
      expect(targetOf(target.normalized)).toEqual(target);
      expect(target.host === target.domain || target.host.endsWith(`.${target.domain}`)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

// LOOKUP-93
test("codes of plain characters, and codes in small letters, make no other target", () => {
  const same = (...urls: string[]) => new Set(urls.map((url) => JSON.stringify(targetOf(url)))).size;
  expect(
    same("https://shop.example.com/~a/B", "https://shop.example.com/%7Ea/%42", "https://shop.example.com/%7ea/%42"),
  ).toBe(1);
  expect(same("https://shop.example.com/%c3%bc", "https://shop.example.com/%C3%BC", "https://shop.example.com/ü")).toBe(
    1,
  );
  expect(same("https://shop.example.com/a|b", "https://shop.example.com/a%7cb")).toBe(1);
  // Codes of reserved characters, and a code of a percent sign, mean something else.
  expect(same("https://shop.example.com/a%2fb", "https://shop.example.com/a/b")).toBe(2);
  expect(same("https://shop.example.com/%257E", "https://shop.example.com/~")).toBe(2);
  expect(targetOf("https://shop.example.com/%zz%2")).toMatchObject({ normalized: "https://shop.example.com/%zz%2" });
});

// LOOKUP-93
test.each(["xn--a", "xn--0", "xn--zzzzz99999", "xn--mnchen-3yx", "a.xn--a-ecp", "xn--abc-", "xn--xn---epa"])(
  "a host whose label %s is no internationalised name has no target",
  (label) => expect(targetOf(`https://${label}.com/`)).toEqual(expect.any(String)),
);

// LOOKUP-93
test("internationalised names have targets, in either form", () => {
  for (const url of ["https://xn--mnchen-3ya.de/", "https://münchen.de/", "https://XN--MNCHEN-3YA.de"])
    expect(targetOf(url)).toMatchObject({ host: "xn--mnchen-3ya.de" });
});
