import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { originsOf } from "./item.ts";
import { ItemSecret, itemOf, loginOf } from "./item-of-secret.ts";

const encoded = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString("base64")]));

const secret = (data: Record<string, string>, type = "Opaque") =>
  ItemSecret.parse({ metadata: { name: "a", uid: "u" }, type, data: encoded(data) });

const withUrls = (urls: unknown) => ({ name: "shop", uid: "u", annotations: { "browserpool.dev/urls": urls } });

// PROVIDER-5, PROVIDER-6
describe("an item", () => {
  test("has the http addresses of its annotation, and their origins as browsers write them", () => {
    const item = itemOf(
      withUrls(" https://Shop.example:443/in?a=b,http://127.0.0.1:80 \n ftp://x shop https://a/1 https://a/2"),
      "team",
    );
    expect(item).toMatchObject({ id: "u", path: "team/shop", title: "shop", vault_id: "team", vault_name: "team" });
    expect(item && originsOf(item)).toEqual(["https://shop.example", "http://127.0.0.1", "https://a"]);
  });

  test("has 20 addresses at most", () => {
    const urls = Array.from({ length: 50 }, (_, index) => `https://a${index}`).join(",");
    expect(itemOf(withUrls(urls), "team")?.urls).toHaveLength(20);
  });

  test.each([undefined, null, 5, "", "shop.example", "javascript:alert(1)", `https://a/${"x".repeat(3000)}`])(
    "is none with the addresses %j",
    (urls) => expect(itemOf(withUrls(urls), "team")).toBeUndefined(),
  );

  test.each([undefined, null, 1, [], {}, { name: "a" }, { name: "", uid: "" }])(
    "is none with the metadata %j",
    (metadata) => expect(itemOf(metadata, "team")).toBeUndefined(),
  );
});

// PROVIDER-7
describe("the login of a Secret", () => {
  test("has its entries by their names, and what is no field does not count", () => {
    const login = loginOf(secret({ username: "ann", totp_secret: "JBSW Y3DP EHPK 3PXP" }));
    expect([...(login?.values ?? [])].map(([name, value]) => [name, value.reveal()])).toEqual([["username", "ann"]]);
    expect(login?.totpSecret?.reveal()).toBe("JBSWY3DPEHPK3PXP");
  });

  test.each([
    ["otpauth://totp/a?secret=JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"],
    ["OTPAUTH://TOTP/a?secret=JBSWY3DPEHPK3PXP&algorithm=sha1&digits=6&period=30", "JBSWY3DPEHPK3PXP"],
    ["otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256", undefined],
    ["otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=60", undefined],
    ["otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP", undefined],
    ["otpauth://totp/a", undefined],
    ["otpauth://totp/%", undefined],
    ["01890", undefined],
  ])("reads the seed in %s", (totp, seed) =>
    expect(loginOf(secret({ password: "p", totp }))?.totpSecret?.reveal()).toBe(seed),
  );

  test.each([
    ["a line break", { password: "a\n" }, "Opaque"],
    ["4097 characters", { password: "x".repeat(4097) }, "Opaque"],
    ["nothing", {}, "Opaque"],
    ["a token of the cluster", { token: "t" }, "kubernetes.io/service-account-token"],
    ["a login of this service", { password: "p" }, "browserpool.dev/credential"],
  ])("is none with %s", (_what, data, type) => expect(loginOf(secret(data, type))).toBeUndefined());
});

// PROVIDER-5, PROVIDER-7
test("whatever a Secret holds, an item has addresses only, and a login only what can be typed", () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((data) => Buffer.from(data).toString("base64"));
  const value = fc.oneof(
    bytes,
    fc.string(),
    fc.constant("JBSWY3DPEHPK3PXP").map((text) => Buffer.from(text).toString("base64")),
  );
  const name = fc.oneof(fc.constantFrom("username", "password", "totp", "totp_secret", "__proto__"), fc.string());
  const urls = fc
    .array(fc.oneof(fc.webUrl(), fc.string(), fc.constantFrom("https://", "//a", "data:,")))
    .map((all) => all.join(" "));
  const anyOf = fc.record({
    metadata: fc.oneof(
      fc.anything(),
      fc.record({
        name: fc.string(),
        uid: fc.string(),
        annotations: fc.dictionary(fc.constant("browserpool.dev/urls"), fc.oneof(urls, fc.anything())),
      }),
    ),
    type: fc.oneof(fc.constantFrom("Opaque", "kubernetes.io/basic-auth"), fc.string()),
    data: fc.oneof(fc.dictionary(name, value), fc.anything()),
  });
  fc.assert(
    fc.property(anyOf, (object) => {
      const item = itemOf(object.metadata, "team");
      for (const url of item?.urls ?? []) expect(url).toMatch(/^https?:/i);
      const parsed = ItemSecret.safeParse(object).data;
      for (const [, typed] of (parsed && loginOf(parsed))?.values ?? [])
        expect(typed.reveal()).toMatch(/^\P{Cc}{0,4096}$|^[\u0020-\uffff]{0,4096}$/u);
    }),
    { numRuns: 2000 },
  );
});
