/** Connections for plain requests: one pool for servers, and one for each parent proxy. */
import type { Agent } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ParentProxy } from "../../../core/protocol/browser-setup.ts";
import { canonicalHost } from "../../../platform/addresses/network-filter.ts";
import { urlHost } from "../../../platform/base/host-port.ts";
import { Agent as HttpAgent } from "../../../platform/net/node-http.ts";
import type { WayOut } from "./way-out.ts";

/**
 * Idle connections that are kept for further requests, for each server and in all. A page can name very many servers.
 */
const maxIdle = 8;
const maxIdleInAll = 256;
const idleMs = 60_000;

type Connect = (host: string, port: number) => Promise<Socket>;

/** `kept`: hands out connections that have served others. `fresh`: makes one for each request. */
export type Pool = { kept: Agent; fresh: Agent };

const connectBy = (agent: Agent, connect: Connect): Agent => {
  agent.createConnection = ({ host, port }, done): undefined => {
    connect(host ?? "", Number(port)).then(
      (socket) => done?.(null, socket),
      // Node's types want a socket beside an error.
      (error: Error) => done?.(error, undefined as unknown as Duplex),
    );
  };
  return agent;
};

const idleOf = ({ freeSockets }: Agent): number =>
  Object.values(freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);

const createConnectionPool = (connect: Connect): Pool => {
  const kept = new HttpAgent({ keepAlive: true, maxFreeSockets: maxIdle, timeout: idleMs });
  const keep = kept.keepSocketAlive.bind(kept);
  kept.keepSocketAlive = (socket) => idleOf(kept) < maxIdleInAll && keep(socket);
  return { kept: connectBy(kept, connect), fresh: connectBy(new HttpAgent({ keepAlive: false }), connect) };
};

type Pools = {
  /** The pool of this parent proxy; undefined: that of servers. */
  of(parent: ParentProxy | undefined): Pool;
  /** Cuts every connection. */
  close(): void;
};

/** Pools whose connections are opened by `wayOut`. */
export const createPools = (wayOut: WayOut): Pools => {
  const toTarget: Connect = async (host, port) => {
    const target = canonicalHost(urlHost(host));
    if (!target) throw new Error("no host");
    return wayOut.direct({ ...target, port });
  };
  const pools = new Map<ParentProxy | undefined, Pool>([[undefined, createConnectionPool(toTarget)]]);
  return {
    of(parent) {
      const pool = pools.get(parent) ?? createConnectionPool(() => wayOut.toParent(parent as ParentProxy));
      pools.set(parent, pool);
      return pool;
    },
    close() {
      for (const { kept, fresh } of pools.values()) {
        kept.destroy();
        fresh.destroy();
      }
    },
  };
};
