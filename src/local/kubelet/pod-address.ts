import { randomInt } from "node:crypto";
import { freePort } from "../free-port.ts";

export type PodAddresses = {
  /** An address of 127.0.0.0/8 that no pod of this node has and on which `port` is free. */
  take(port: number): Promise<string>;
  release(address: string): void;
};

/**
 * There are 16 million addresses; more failures in a row mean that this machine can't bind loopback addresses at all.
 */
const maxTries = 20;

/** Leaves 127.0.x.y to the machine's own services. */
const randomAddress = (): string => `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;

/** Addresses for the pods of one node. It tries the port, so two nodes on one machine never use the same address. */
export const createPodAddresses = (): PodAddresses => {
  const taken = new Set<string>();
  return {
    async take(port) {
      for (let tries = 0; tries < maxTries; tries++) {
        const address = randomAddress();
        if (taken.has(address)) continue;
        taken.add(address);
        if (await freePort(address, port)) return address;
        taken.delete(address);
      }
      throw new Error(`no address of 127.0.0.0/8 with port ${port} free was found in ${maxTries} tries`);
    },
    release: (address) => void taken.delete(address),
  };
};
