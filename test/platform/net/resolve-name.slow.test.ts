import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createResolveName } from "../../../src/platform/net/resolve-name.ts";
import { type Answer, startDnsServer } from "../../support/wall/dns-server.ts";

const names: Record<string, Answer> = {
  "known.test": { a: ["192.0.2.7"], aaaa: ["2001:db8::7"] },
  "half.test": { failsIpv4: true },
  "empty.test": {},
};

const asked = async (name: string): Promise<{ outcome: unknown; names: string[] }> => {
  await using server = await startDnsServer((each) => names[each]);
  const outcome = await createResolveName([server.address])(name).catch(({ message }: Error) => message);
  return { outcome, names: [...new Set(server.asked)] };
};

test("a name that is known is asked for as it stands", async () => {
  expect(await asked("known.test")).toEqual({ outcome: ["192.0.2.7", "2001:db8::7"], names: ["known.test"] });
});

test("a name of which no server has told all is looked for in no other domain: it may have an address", async () => {
  expect(await asked("half.test")).toEqual({ outcome: "no DNS server has answered", names: ["half.test"] });
});

test.each(["empty.test", "unknown.test"])("%s has no address", async (name) => {
  expect(await asked(name)).toMatchObject({ outcome: "the name has no address" });
});

test("names that are still being asked for have a bound, and make room when they are answered", async () => {
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  await once(silent, "listening");
  const resolve = createResolveName([`127.0.0.1:${silent.address().port}`]);
  const pending = Array.from({ length: 256 }, (_, n) => resolve(`name-${n}.test`).catch(({ message }) => message));
  await expect(resolve("one-more.test")).rejects.toThrow("too many names are being resolved");
  expect(new Set(await Promise.all(pending))).toEqual(new Set(["no DNS server has answered"]));
  await expect(resolve("one-more.test")).rejects.toThrow("no DNS server has answered");
  silent.close();
}, 60_000);
