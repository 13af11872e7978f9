import { networkInterfaces } from "node:os";

const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);

/** An IPv4 address of this machine that is not loopback: a browser behind a wall reaches no server on loopback. */
export const ownAddress: string = (() => {
  const found = all.find(
    ({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."),
  );
  if (!found) throw new Error("this machine has no IPv4 address but loopback");
  return found.address;
})();

/** A private address of this machine, as URLs have it; undefined when it has none. */
export const ownPrivateAddress: string | undefined = (() => {
  const isPrivate = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|f[cd])/;
  const found = all.find(({ internal, address }) => !internal && isPrivate.test(address));
  return found && (found.family === "IPv6" ? `[${found.address}]` : found.address);
})();

/** The four numbers of `ownAddress`. */
export const ownBytes: number[] = ownAddress.split(".").map(Number);

/** An IPv6 address of this machine that a browser behind a wall may reach; undefined when it has none. */
export const ownIpv6Address: string | undefined = all.find(
  ({ family, internal, address }) => family === "IPv6" && !internal && !address.startsWith("fe80:"),
)?.address;
