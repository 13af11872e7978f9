import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownPrivateAddress } from "../../../../test/support/wall/machine.ts";
import type { NetworkSetup } from "../../../core/protocol/browser-setup.ts";
import { createWayOut } from "./way-out.ts";

let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((socket) => socket.end()).listen(0, "::");
  await once(site, "listening");
  ({ port } = site.address() as AddressInfo);
});
afterAll(() => site?.close());

const address = ownPrivateAddress?.replaceAll(/[[\]]/g, "") ?? "";
const setup = {
  routes: [],
  proxies: [],
  allowed_hosts: undefined,
  private_hosts: ["site.test"],
} as unknown as NetworkSetup;
const target = () => ({ host: "site.test", port }) as never;

test.skipIf(!address)("a name is dialled by the address that was checked, and not resolved a second time", async () => {
  const asked: string[] = [];
  // No DNS server knows the name.
  const way = createWayOut(setup, async (host) => {
    asked.push(host);
    return [address];
  });
  const socket = await way.direct(target());
  expect(socket.remoteAddress).toBe(address);
  socket.destroy();
  expect(asked).toEqual(["site.test"]);
});

test.skipIf(!address)("connections that were opened take no place among those that are being opened", async () => {
  const way = createWayOut(setup, async () => [address]);
  for (let n = 0; n < 600; n++) (await way.direct(target())).destroy();
});

test("connections that are being opened have a bound, and what can't be reached makes room", async () => {
  const hold = Promise.withResolvers<string[]>();
  const way = createWayOut(setup, () => hold.promise);
  const all = Array.from({ length: 513 }, () => way.direct(target()).catch((error: Error) => error.message));
  expect(await all[512]).toBe("too many connections are being opened");
  hold.reject(new Error("the name has no address"));
  expect(new Set(await Promise.all(all.slice(0, 512)))).toEqual(new Set(["the name has no address"]));
  await expect(way.direct(target())).rejects.toThrow("no address");
});
