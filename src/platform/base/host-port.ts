import { isIPv6 } from "node:net";

/**
 * A host as URLs and `Host` headers write it: an IPv6 address stands in brackets. One that stands in brackets stays as
 * it is.
 */
export const urlHost = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The host without the brackets of an IPv6 address, as sockets take it. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, "");

/** `host:port` as URLs write it. */
export const hostPort = (host: string, port: number): string => `${urlHost(host)}:${port}`;

/** The parts of `host:port`, as sockets take them. */
export const splitHostPort = (text: string): { host: string; port: number } => {
  const colon = text.lastIndexOf(":");
  return { host: bareHost(text.slice(0, colon)), port: Number(text.slice(colon + 1)) };
};
