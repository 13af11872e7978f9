import { randomInt } from "node:crypto";

/** An address of loopback for a server of a test, drawn by chance: nothing that other tests ask for comes to it. */
export const loopbackAddress = (): string => `127.${randomInt(64, 127)}.${randomInt(256)}.${randomInt(1, 255)}`;
