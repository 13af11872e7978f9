/**
 * How an exporter connects: the host of the endpoint is resolved for each connection, each of its addresses is checked,
 * and the connection goes to an address that was checked. So a name can't change its meaning in between.
 */
import type { buildConnector } from "undici";
import type { Target } from "../../../platform/addresses/host-pattern.ts";
import { parseAddress } from "../../../platform/addresses/ip-range.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { dial, dialFirst, dialTls } from "../../../platform/net/dial.ts";
import type { ResolveName } from "../../../platform/net/resolve-name.ts";

/** The endpoint leads to a place where telemetry is not sent. */
export class Refused extends Error {
  override name = "Refused";
}

export type ConnectDeps = { filter: NetworkFilter; resolve: ResolveName };

/** The addresses of the target. One that is refused refuses them all: an honest name has none. */
const allowedAddresses = async (target: Target, { filter, resolve }: ConnectDeps): Promise<string[]> => {
  const refusal = filter.host(target);
  if (refusal !== undefined) throw new Refused(refusal);
  const texts = target.address ? [target.host] : await resolve(target.host);
  for (const text of texts) {
    const address = parseAddress(text);
    const why = address ? filter.address(target, address) : "it has no address";
    if (why !== undefined) throw new Refused(why);
  }
  return texts;
};

/** Connections to this target only, whatever the HTTP client asks for. `secure`: with TLS. */
export const pinnedConnector =
  (target: Target, secure: boolean, deps: ConnectDeps): buildConnector.connector =>
  (_, done) => {
    const { host, port } = target;
    const connecting = allowedAddresses(target, deps).then((addresses) =>
      dialFirst(addresses, (address, signal) =>
        secure ? dialTls({ address, host, port }, undefined, signal) : dial(address, port, signal),
      ),
    );
    connecting.then(
      (socket) => done(null, socket),
      (error: Error) => done(error, null),
    );
  };
