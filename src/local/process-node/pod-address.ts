import { randomInt } from "node:crypto";
import { freePort } from "../free-port.ts";

export type PodAddresses = {
  /** An address of 127.0.0.0/8 that no pod of this node has and on which `port` is free. */
  take(port: number): Promise<string>;
  release(address: string): void;
};

/** Of 16 million addresses; more misses in a row mean that loopback addresses can't be bound here at all. */
const maxTries = 20;

/** 127.0.x.y is left to the machine's own services. */
const randomAddress = (): string => `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;

/** Addresses for the pods of one node. Trying the port keeps two nodes on one machine apart without their knowing of each other. */
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
