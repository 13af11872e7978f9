import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/** Time for one try, ms, and tries for each server. */
const tryMs = 2000;
const tries = 2;

/** Names that are being resolved at the same time: a page can ask for very many. */
const maxPending = 256;

/** Search domains that are tried, and addresses of a name that are used. */
const maxSearch = 6;
const maxAddresses = 16;

/** What DNS servers say of a name that does not exist, or has no address of the kind. */
const noSuchName = new Set(["ENOTFOUND", "ENODATA"]);

/** Returns the addresses of a name, IPv4 first; rejects when it has none. */
export type ResolveName = (host: string) => Promise<string[]>;

const searchDomains = async (): Promise<string[]> => {
  const text = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const lines = [...text.matchAll(/^[ \t]*(?:search|domain)[ \t]+(.*)$/gm)];
  return (lines.at(-1)?.[1] ?? "").split(/\s+/).filter(Boolean).slice(0, maxSearch);
};

const saysNone = (answer: PromiseSettledResult<unknown>): boolean =>
  answer.status === "rejected" && noSuchName.has((answer.reason as NodeJS.ErrnoException).code ?? "");

/**
 * Resolves names by DNS, by the machine's servers unless `servers` are given (`address` or `address:port`). The
 * system's own function would occupy one of few threads for each name that does not answer, and files wait for these
 * threads too. A name is asked for as it stands, and then, if the servers know none, in the search domains. Answers are
 * not kept: the servers do that.
 */
export const createResolveName = (servers?: string[]): ResolveName => {
  const resolver = new Resolver({ timeout: tryMs, tries });
  if (servers) resolver.setServers(servers);
  let pending = 0;
  /** No addresses: the servers say that there are none. */
  const ask = async (name: string): Promise<string[]> => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    // A name without IPv6 may still have an IPv4 address that no server has told.
    if (found.length === 0 && !answers.every(saysNone)) throw new Error("no DNS server has answered");
    return found.slice(0, maxAddresses);
  };
  const askAll = async (host: string): Promise<string[]> => {
    const found = await ask(host);
    if (found.length > 0) return found;
    for (const domain of await searchDomains()) {
      const inDomain = await ask(`${host}.${domain}`);
      if (inDomain.length > 0) return inDomain;
    }
    throw new Error("the name has no address");
  };
  return async (host) => {
    if (pending >= maxPending) throw new Error("too many names are being resolved");
    pending += 1;
    try {
      return await askAll(host);
    } finally {
      pending -= 1;
    }
  };
};

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
