/** Reads of a Vault that is none, or in trouble: servers that redirect, lie, stall or flood. */
import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { ProviderFailed } from "../../../../src/features/vaults/providers/store.ts";
import { failure, hostile, storeAt, token } from "./hostile-vault.ts";

const kv2 = JSON.stringify({ data: { type: "kv", path: "secret/", options: { version: "2" } } });
const isMount = (url = ""): boolean => url.startsWith("/v1/sys/internal/ui/mounts/");

// PROVIDER-16
test.each<[string, RequestListener, string, string]>([
  [
    "redirects",
    (_, r) => r.writeHead(307, { location: "/elsewhere" }).end(),
    "credential_provider_refused",
    "redirects (307)",
  ],
  ["answers with a page", (_, r) => r.end("<html>hello"), "credential_provider_unavailable", "as no Vault does"],
  [
    "answers with other JSON",
    (_, r) => r.end('{"data": {"data": 5}}'),
    "credential_provider_unavailable",
    "as no Vault does",
  ],
  ["is not initialized", (_, r) => r.writeHead(501).end(), "credential_provider_unavailable", "not initialized (501)"],
  ["is sealed", (_, r) => r.writeHead(503).end(), "credential_provider_unavailable", "sealed"],
  ["limits the rate", (_, r) => r.writeHead(429).end(), "credential_provider_unavailable", "(429)"],
  ["is a standby", (_, r) => r.writeHead(473).end(), "credential_provider_unavailable", "(473)"],
  ["hangs up", (q) => q.socket.destroy(), "credential_provider_unavailable", "does not answer"],
  [
    "has a huge head",
    (_, r) => r.writeHead(200, { x: "x".repeat(100_000) }).end(),
    "credential_provider_unavailable",
    "does not answer",
  ],
])("a server that %s gives no login, and is told by name", async (_what, listener, code, words) => {
  await using server = await hostile(listener);
  const store = storeAt(server.address);
  for (const error of await Promise.all([store.read("secret/a"), store.list(), store.tryList()].map(failure))) {
    if (!(error instanceof ProviderFailed)) throw error;
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain(token);
  }
  expect(server.asked.filter((url) => !url.startsWith("/v1/"))).toEqual([]);
});

// PROVIDER-17
test("an answer without an end is cut off, and its server gets no further request", async () => {
  await using server = await hostile((_request, response) => {
    const more = () => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", more);
    };
    more();
  });
  const beganMs = performance.now();
  expect((await failure(storeAt(server.address).read("secret/a"))).message).toContain("bytes");
  expect(performance.now() - beganMs).toBeLessThan(5000);
  expect(server.asked).toHaveLength(1);
});

// PROVIDER-17
test("names of folders lead nowhere else, and folders without an end end", async () => {
  await using climbing = await hostile(({ url }, response) => {
    response.end(
      isMount(url)
        ? kv2
        : JSON.stringify({
            data: { keys: ["..", "../", ".", "a/../b", "", "/", "c\u0000", "x?list=true#", "%2e%2e"] },
          }),
    );
  });
  await storeAt(climbing.address)
    .list()
    .catch(() => undefined);
  const below = climbing.asked.filter((url) => !isMount(url));
  expect(below.slice(1).toSorted()).toEqual([
    "/v1/secret/metadata/%252e%252e",
    "/v1/secret/metadata/x%3Flist%3Dtrue%23",
  ]);
  await using endless = await hostile(({ url }, response) => {
    response.end(isMount(url) ? kv2 : JSON.stringify({ data: { keys: ["a/", "b/"] } }));
  });
  expect((await failure(storeAt(endless.address).list())).message).toContain("narrow path_prefix");
  expect(endless.asked.length).toBeLessThan(2010);
  await using wide = await hostile(({ url }, response) => {
    response.end(
      isMount(url) ? kv2 : JSON.stringify({ data: { keys: Array.from({ length: 100_000 }, (_, n) => `e${n}`) } }),
    );
  });
  expect((await failure(storeAt(wide.address).list())).message).toContain("narrow path_prefix");
  expect(wide.asked).toHaveLength(2);
});

test("the token goes in a header, and with it the namespace", async () => {
  await using server = await hostile(({ headers }, response) => {
    expect(headers["x-vault-namespace"]).toBe("admin/team");
    response.writeHead(404).end();
  });
  const error = await failure(storeAt(server.address, { namespace: "admin/team" }).read("secret/a b/c"));
  expect(error.code).toBe("external_credential_not_found");
  expect([server.asked, [...server.tokens]]).toEqual([["/v1/secret/data/a%20b/c"], [token]]);
});
