import { randomInt } from "node:crypto";

export type Addresses = {
  /** The next address that no pod of this node has. */
  take(): string;
  release(address: string): void;
};

const size = 256 * 254;

/** The one IPv6 address of loopback: for one pod at a time, on one machine. */
export const oneIpv6Address = (): Addresses => {
  let isTaken = false;
  return {
    take() {
      if (isTaken) throw new Error("no address is left for another pod");
      isTaken = true;
      return "::1";
    },
    release: () => {
      isTaken = false;
    },
  };
};

/**
 * Addresses of one /16 of 127.0.0.0/8, drawn by chance so that nodes on one machine rarely meet; whoever listens must
 * cope with one that is in use. An address is given again only after all others, as late as can be.
 */
export const createAddresses = (): Addresses => {
  // 127.0 is the machine's own.
  const block = randomInt(1, 255);
  const taken = new Set<string>();
  let last = -1;
  return {
    take() {
      if (taken.size >= size) throw new Error("no address is left for another pod");
      for (;;) {
        last = (last + 1) % size;
        const address = `127.${block}.${Math.floor(last / 254)}.${(last % 254) + 1}`;
        if (taken.has(address)) continue;
        taken.add(address);
        return address;
      }
    },
    release: (address) => void taken.delete(address),
  };
};
