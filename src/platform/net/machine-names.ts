import { readFile } from "node:fs/promises";
import type { ResolveName } from "./resolve-name.ts";

/** A file that is longer is a list of blocked sites; no more of it is read. */
const mostBytes = 1024 * 1024;

/** The addresses that the machine's hosts file gives a name. */
const inHostsFile = async (host: string): Promise<string[]> => {
  const text = (await readFile("/etc/hosts", "utf8").catch(() => "")).slice(0, mostBytes);
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });
};

/** Resolves first what the machine itself names: `localhost`, names below it, and its hosts file. For local mode. */
export const withMachineNames =
  (resolve: ResolveName): ResolveName =>
  async (host) => {
    if (/(^|\.)localhost$/.test(host)) return ["127.0.0.1", "::1"];
    const own = await inHostsFile(host);
    return own.length > 0 ? own : resolve(host);
  };
