/** One server: with a user of its own, with TLS, and with unsuitable settings. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { createSessionRoom } from "../../../src/core/reservations/session-room.ts";
import { createItemEvents } from "../../../src/features/vaults/items/item-events.ts";
import type { Logger } from "../../../src/platform/base/log.ts";
import { checkRedis } from "../../../src/platform/redis/check-redis.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { createLocks } from "../../../src/platform/redis/locks.ts";
import { eventually } from "../../support/eventually.ts";
import { runLeaseFlow, startLeaseFlow } from "../../support/lease-flow.ts";
import { silent } from "../../support/lease-parts.ts";
import { userRights } from "../../support/redis-recipes.ts";
import { startRedisServer } from "../../support/redis-servers.ts";
import { startRubbishServer } from "../../support/rubbish-server.ts";
import { testCertificates } from "../../support/test-certificates.ts";

const run = promisify(execFile);

/** The warnings of `checkRedis`. */
const warningsOf = async (url: string): Promise<string[]> => {
  const warnings: string[] = [];
  const log = { ...silent, info: () => undefined, warn: (_: object, message: string) => warnings.push(message) };
  const redis = connectRedis(url, silent);
  try {
    await whenReady(redis, 10_000);
    await checkRedis(redis, log as unknown as Logger);
  } finally {
    redis.disconnect();
  }
  return warnings;
};

const runItemEvents = async (redis: RedisConnection): Promise<void> => {
  const events = createItemEvents(redis);
  await events.append("item", { type: "created", item: "shop", actor: { id: "key" } });
  const read = await events.read("item", { limit: 1, waitMs: 0 }, AbortSignal.timeout(5000));
  expect(read).toMatchObject([{ type: "created" }]);
};

const runReservations = async (redis: RedisConnection): Promise<void> => {
  const room = createSessionRoom(redis, "system");
  const browser = { projectId: "a", id: "b", sessions: 1, kind: "browser" } as const;
  expect(await room.reserve(browser, { project: 1, countsPools: true, organization: 1, counted: [] })).toBe(true);
  await room.free(browser);
};

test("a user with only the rights of docs/redis.md can do all that callers need", async () => {
  await using server = await startRedisServer(["requirepass admin"], { login: { password: "admin" } });
  const admin = server.admin();
  await admin.call("ACL", "SETUSER", "pool", ...userRights("se%cret/"));
  const url = `redis://pool:se%25cret%2F@127.0.0.1:${server.port}`;
  {
    await using flow = await startLeaseFlow(url, { checkMs: 20 });
    await runLeaseFlow(flow);
    await runReservations(flow.parts.redis);
    await createLocks(flow.parts.redis).hold(["thing"], () => runItemEvents(flow.parts.redis));
    await expect((flow.parts.redis as Redis).get("other")).rejects.toThrow("NOPERM");
    expect(await admin.call("ACL", "LOG")).toHaveLength(1);
  }
  expect(await warningsOf(url)).toEqual([]);
  await expect(whenReadyAt(url.replace("se%25cret", "wrong"))).rejects.toThrow(/^Redis is not ready: WRONGPASS/);
});

test("a resubscription that is refused breaks nothing, and succeeds once it is allowed", async () => {
  await using server = await startRedisServer(["requirepass admin"], { login: { password: "admin" } });
  const admin = server.admin();
  await admin.call("ACL", "SETUSER", "pool", ...userRights("x"));
  await using flow = await startLeaseFlow(`redis://pool:x@127.0.0.1:${server.port}`);
  const replica = await flow.parts.replica({ checkMs: 50 });
  await replica.follow("pool");
  const listener = replica.listen("pool", "a");
  const subscribers = async () => (await flow.parts.store.findLost("pool", replica.channel("pool"), [])).subscribers;
  expect(await subscribers()).toBe(1);

  await admin.call("ACL", "SETUSER", "pool", "-ssubscribe");
  replica.cut();
  await eventually("Redis refused it", async () =>
    JSON.stringify(await admin.call("ACL", "LOG")).includes("ssubscribe"),
  );
  expect(await subscribers()).toBe(0);
  await admin.call("ACL", "SETUSER", "pool", "+ssubscribe");
  await eventually("it is subscribed again", async () => (await subscribers()) === 1);
  listener.stop();
});

const whenReadyAt = async (url: string): Promise<void> => {
  const redis = connectRedis(url, silent);
  await whenReady(redis, 500).finally(() => redis.disconnect());
};

test("the service warns of a server that evicts keys", async () => {
  await using server = await startRedisServer(["maxmemory-policy allkeys-lru"]);
  expect(await warningsOf(`redis://127.0.0.1:${server.port}`)).toEqual([
    expect.stringContaining("set maxmemory-policy to noeviction"),
  ]);
});

test("a server that does not tell its run is refused: a failover would go unnoticed", async () => {
  await using server = await startRedisServer([]);
  const rights = userRights("x").filter((right) => right !== "+info");
  await server.admin().call("ACL", "SETUSER", "mute", ...rights);
  const refusal = /^Redis does not say which of its servers answers \(.*\+info.*docs\/redis\.md$/s;
  await expect(warningsOf(`redis://mute:x@127.0.0.1:${server.port}`)).rejects.toThrow(refusal);
  await using renamed = await startRedisServer(['rename-command INFO ""']);
  await expect(whenReadyAt(`redis://127.0.0.1:${renamed.port}`)).rejects.toThrow(
    /^Redis is not ready: ERR unknown command '?info/,
  );
});

test("a server that is too old is refused", async () => {
  // No package offers such an old server; the test needs only its version.
  const old = { eval: async () => "# Server\r\nredis_version:6.2.14\r\n" } as unknown as RedisConnection;
  await expect(checkRedis(old, silent)).rejects.toThrow("Redis 7.0 or newer is needed, this is 6.2.14");
});

test("TLS is used when the URL says so, and only with a server whose certificate is valid", async () => {
  const folder = await mkdtemp(join(tmpdir(), "redis-tls-"));
  const known = getCACertificates("default");
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"];
    const kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
    await run("openssl", [...kind, ...subject, "-keyout", key, "-out", cert]);
    const tls = ["port 0", "tls-port %port", `tls-cert-file ${cert}`, `tls-key-file ${key}`, "tls-auth-clients no"];
    await using server = await startRedisServer([...tls, "requirepass secret"]);
    const url = `rediss://:secret@127.0.0.1:${server.port}`;
    await expect(whenReadyAt(url)).rejects.toThrow(/^Redis is not ready: .*certificate/);
    // Trusts the authority as NODE_EXTRA_CA_CERTS does for a whole process.
    setDefaultCACertificates([...known, await readFile(cert, "utf8")]);
    await using flow = await startLeaseFlow(url);
    await runLeaseFlow(flow);
  } finally {
    setDefaultCACertificates(known);
    await rm(folder, { recursive: true, force: true });
  }
});

test.each(["rediss://HOST", "rediss-sentinel://HOST?master=main", "rediss-cluster://HOST"])(
  "a stranger in the place of a server can't end the process: %s",
  async (url) => {
    await using stranger = await startRubbishServer(testCertificates());
    await expect(whenReadyAt(url.replace("HOST", `127.0.0.1:${stranger.port}`))).rejects.toThrow("Redis is not ready");
    expect(stranger.connections()).toBeGreaterThan(0);
  },
);
