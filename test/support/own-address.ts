import { networkInterfaces } from "node:os";

/** An IPv4 address of this machine that is not loopback, where services refuse loopback. Throws when there is none. */
export const ownAddress = (): string => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
  if (!found) throw new Error("this machine has no address but loopback");
  return found.address;
};
