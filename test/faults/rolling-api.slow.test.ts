/**
 * API replicas that are replaced one after another behind one address while callers use it, as in a rolling upgrade.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiReplica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type Call, fullPool, poolAt, type Session } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

/** Sends each new connection to the next replica; open connections stay with theirs, as in a cluster. */
const startBalancer = async (replicas: ApiReplica[]) => {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const { port } = new URL(replicas[turn++ % replicas.length]?.url ?? "");
    const target = connect(Number(port), "127.0.0.1");
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

let cluster: SimulatedCluster;
beforeAll(async () => {
  cluster = await startSimulatedCluster();
  await cluster.startOperator("operator").logged("leading");
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

test("callers notice nothing while all replicas of the API are replaced", { timeout: 180_000 }, async () => {
  const replicas = [await cluster.startApi("api-0"), await cluster.startApi("api-1")];
  const balancer = await startBalancer(replicas);
  const call: Call = (method, path, body) =>
    fetch(balancer.url + path, {
      method,
      headers: { authorization: `Bearer ${cluster.apiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const pool = poolAt(call, (await fullPool(call, 3)).id);
  const failures: unknown[] = [];
  let leases = 0;
  let isRolling = true;
  // More callers than browsers, so that some wait whenever a replica stops.
  const keepCalling = async (): Promise<void> => {
    while (isRolling) {
      const answer = await pool.ask().catch((error: Error) => error.cause ?? error);
      if (answer instanceof Response && answer.status === 200) {
        leases++;
        const released = await pool.release((await answer.json()) as Session).catch((error: unknown) => error);
        if (released !== 204) failures.push(released);
      } else failures.push(answer instanceof Response ? await answer.text() : answer);
    }
  };
  const callers = Array.from({ length: 8 }, keepCalling);
  const until = async (more: number): Promise<void> => {
    const wanted = leases + more;
    await eventually(`${more} more leases`, () => leases >= wanted || failures.length > 0);
  };
  for (const [place, old] of [...replicas].entries()) {
    await until(30);
    const fresh = await cluster.startApi(`api-${place + 2}`);
    old.kill("SIGTERM");
    // A cluster notices the stop a moment later than the replica itself.
    await until(10);
    replicas[place] = fresh;
    expect(await old.exited).toBe(0);
  }
  await until(30);
  isRolling = false;
  await Promise.all(callers);
  balancer.close();
  expect(failures).toEqual([]);
});
