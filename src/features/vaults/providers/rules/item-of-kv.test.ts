import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodedPath, hasValues, itemOfKv, KvData, KvMetadata, loginOfKv, pathInMount } from "./item-of-kv.ts";

const metadata = (data: object) => KvMetadata.parse({ data });
const version = (more: object = {}) => ({ current_version: 2, versions: { 1: {}, 2: { deletion_time: "", ...more } } });

// PROVIDER-13
describe("an entry", () => {
  test("is an item by its custom metadata", () => {
    const item = itemOfKv("team/shop", "secret", { urls: "https://a.example ftp://x", title: " Shop " });
    expect(item).toEqual({
      ...{ id: "secret/team/shop", path: "secret/team/shop", title: "Shop", vault_id: "secret", vault_name: "secret" },
      urls: ["https://a.example"],
    });
    expect(itemOfKv("team/shop", "secret", { urls: "https://a.example" })?.title).toBe("shop");
    for (const custom of [undefined, null, {}, { urls: "" }, { urls: "shop.example" }])
      expect(itemOfKv("team/shop", "secret", custom)).toBeUndefined();
  });

  test.each<[string, object, boolean]>([
    ["its newest version", version(), true],
    ["one that will be deleted", version({ deletion_time: "2040-01-01T00:00:00.123456789Z" }), true],
    ["one that is deleted", version({ deletion_time: "2020-01-01T00:00:00.123456789Z" }), false],
    ["one that is destroyed", version({ destroyed: true }), false],
    ["no version", { current_version: 0, versions: {} }, false],
    ["nothing that is known", { current_version: "x", versions: 5 }, false],
  ])("has values by %s: %j %s", (_what, data, has) =>
    expect(hasValues(metadata(data), Date.parse("2030-01-01"))).toBe(has),
  );
});

// PROVIDER-7
test("the login of an entry has its texts, and there is none with anything else", () => {
  const login = loginOfKv({ username: "ann", totp: "JBSWY3DPEHPK3PXP" });
  expect([...(login?.values ?? [])].map(([name, value]) => [name, value.reveal()])).toEqual([["username", "ann"]]);
  expect(login?.totpSecret?.reveal()).toBe("JBSWY3DPEHPK3PXP");
  for (const bad of [{}, { pin: 5 }, { a: null }, { a: ["x"] }, { a: "x\ny" }, { a: "x".repeat(4097) }])
    expect(loginOfKv(bad)).toBeUndefined();
});

// PROVIDER-10, PROVIDER-17
describe("a path", () => {
  const place = { mount: "secret", pathPrefix: "team" };

  test.each<[string, string | undefined]>([
    ["secret/team/shop", "team/shop"],
    ["secret/team/a b/%2e%2e", "team/a b/%2e%2e"],
    ["secret/team/", undefined],
    ["secret/team", undefined],
    ["secret/teammate/x", undefined],
    ["secret/team/../x", undefined],
    ["secret/team/./x", undefined],
    ["secret/team//x", undefined],
    ["secret/team/a\u0000", undefined],
    ["secret2/team/x", undefined],
    ["/secret/team/x", undefined],
  ])("%j is %j in the mount", (path, inMount) => expect(pathInMount(path, place)).toBe(inMount));

  test("whatever it is, it is refused, or stays below the prefix in a request", () => {
    const part = fc.oneof(fc.constantFrom("..", ".", "", "%2e%2e", "..\\", "?x", "#", "\ud800"), fc.string());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const inMount = pathInMount(["secret", "team", ...parts].join("/"), place);
        if (inMount === undefined) return;
        const asked = new URL(`https://vault.example/v1/secret/data/${encodedPath(inMount)}`);
        expect(asked.href).toBe(`https://vault.example/v1/secret/data/${encodedPath(inMount)}`);
        expect(asked.pathname).toMatch(/^\/v1\/secret\/data\/team\/[^/]/);
      }),
    );
  });
});

// PROVIDER-13
test("whatever a server answers, an item has addresses only", () => {
  const custom = fc.oneof(
    fc.anything(),
    fc.record({ urls: fc.oneof(fc.webUrl(), fc.anything()), title: fc.anything() }),
  );
  fc.assert(
    fc.property(custom, fc.oneof(fc.dictionary(fc.string(), fc.anything()), fc.anything()), (custom_metadata, data) => {
      const answer = KvData.safeParse({ data: { data, metadata: { custom_metadata } } }).data;
      const item = answer && itemOfKv("a", "secret", answer.data.metadata.custom_metadata);
      for (const url of item?.urls ?? []) expect(url).toMatch(/^https?:/i);
      if (answer?.data.data) loginOfKv(answer.data.data);
    }),
  );
});
