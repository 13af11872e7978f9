/**
 * The events of a session on their way from the agent's stream into Redis and to a receiver of OTLP, with each call on
 * that way failing in turn. A replica that misses a part too often is followed by another one.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentStreams } from "../../src/core/leases/agent/agent-stream.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { collectSession } from "../../src/features/telemetry/collect-session.ts";
import { createExportCursors } from "../../src/features/telemetry/export-state.ts";
import { createExports } from "../../src/features/telemetry/exports.ts";
import { createTelemetryStore } from "../../src/features/telemetry/telemetry-store.ts";
import { listeningPort } from "../../src/platform/base/listening-port.ts";
import { createSemaphore } from "../../src/platform/base/semaphore.ts";
import { createResolveName } from "../../src/platform/net/resolve-name.ts";
import { startVaultParts, type VaultParts } from "../features/vaults/vault-parts.ts";
import { type LeaseParts, startLeaseParts } from "../support/lease-parts.ts";
import { serviceFailures, tryEveryFault } from "./injector.ts";

let vault: VaultParts;
let lease: LeaseParts;
let receiver: Server;
/** What was sent in each request, in its order. */
const requests: string[] = [];
const destination = "receiver";

beforeAll(async () => {
  receiver = createServer(async (from, to) => {
    requests.push((await buffer(from)).toString("latin1"));
    to.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  lease = await startLeaseParts();
  vault = await startVaultParts({ settings: { BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS: "127.0.0.1" } });
  const endpoint = `http://127.0.0.1:${listeningPort(receiver)}`;
  const made = await vault.call("POST", "/telemetry/destinations", {
    name: destination,
    endpoint,
    compression: "none",
  });
  expect(made.status).toBeLessThan(300);
});
afterAll(async () => {
  await vault?.[Symbol.asyncDispose]();
  await lease?.[Symbol.asyncDispose]();
  receiver?.close();
});

/** The events of the session in the agent's buffer. */
const seqs = [1, 2, 3, 4, 5];
const marker = (session: string, seq: number): string => `marker-${session}-${seq};`;
const eventOf = (session: string, seq: number) => ({
  category: "page",
  type: "page_load",
  ts: 1_790_000_000_000_000 + seq,
  source: { kind: "cdp" },
  data: { url: marker(session, seq) },
});

type Session = { session: string; poolUid: string };

/** A session that exports its events. */
const begin = async (): Promise<Session> => {
  const [session, poolUid] = [newId(), newId()];
  await lease.addBrowser(poolUid);
  const request = JSON.stringify({
    timeout_seconds: 60,
    max_session_seconds: 3600,
    project: vault.projectId,
    pool: { id: "pool", uid: poolUid },
    telemetry: { enabled: true, storage: { enabled: true }, export: { otlp: { destination: { name: destination } } } },
  });
  const { kind } = await lease.store.take(poolUid, { session, channel: "none", request });
  expect(kind).toBe("granted");
  return { session, poolUid };
};

/**
 * The agent's end of the stream: each reader gets what comes after its place; the lease ends in the middle of the first
 * stream.
 */
const agentOf = ({ session, poolUid }: Session): Pick<AgentStreams, "open"> => {
  let isHeld = true;
  return {
    async open(_agent, path) {
      const after = Number(new URL(path, "http://agent").searchParams.get("after") ?? 0);
      const lines = async function* () {
        for (const seq of seqs.filter((one) => one > after)) {
          if (seq === 3 && isHeld) await lease.store.release(poolUid, session, "releasing", "released");
          if (seq === 3) isHeld = false;
          yield { seq, event: eventOf(session, seq) };
        }
      };
      return { kind: "ok", lines: lines() };
    },
  };
};

/** The agent of the session that is collected now. */
let agent: Pick<AgentStreams, "open">;

/** Parts of a replica whose calls go outside. */
const outside = () => ({
  store: lease.store,
  events: createTelemetryStore(lease.redis),
  cursors: createExportCursors(lease.redis),
  exportResults: vault.services.exportResults,
  kube: vault.services.kube,
  streams: { open: (...asked: Parameters<AgentStreams["open"]>) => agent.open(...asked) },
});
type Outside = ReturnType<typeof outside>;

/** One replica collects the session, until all is done or `signal` fires. */
const collect = async ({ session, poolUid }: Session, parts: Outside, signal: AbortSignal): Promise<void> => {
  const { services } = vault;
  const onDropped = (count: number, reason: string): void => expect.unreachable(`${count} dropped: ${reason}`);
  const resolve = createResolveName();
  const exports = createExports({ ...services, ...parts, resolve, now: Date.now, onDropped });
  const deps = { ...services, ...parts, exports, batches: createSemaphore(1), isTight: () => false };
  await collectSession({ session, poolUid }, deps, signal);
};

/** The numbers of the session's events that the receiver has, in their order. */
const received = (session: string): number[] =>
  requests.flatMap((text) =>
    [...text.matchAll(new RegExp(`marker-${session}-(\\d+);`, "g"))].map(([, seq]) => Number(seq)),
  );

// TELEMETRY-21, TELEMETRY-23, TELEMETRY-33
test("each event is kept once and received at least once, in order, whatever fails, and the end is noted", async () => {
  const { kube, store, agents } = serviceFailures;
  const calls = await tryEveryFault<Session, void, Outside>({
    parts: outside(),
    failures: {
      ...Object.fromEntries(["store", "events", "cursors", "exportResults"].map((part) => [part, store])),
      kube,
      streams: agents,
    },
    kinds: ["refused", "lost", "death"],
    readKinds: ["refused"],
    async prepare() {
      const session = await begin();
      agent = agentOf(session);
      return session;
    },
    work: collect,
    async check(session, ended) {
      // Another replica takes over what one has left.
      if ("error" in ended) await collect(session, outside(), new AbortController().signal);
      const kept = await outside().events.read(session.session, { order: "asc", count: 100 });
      expect([kept.hasEnded, kept.events.map(({ seq }) => seq)]).toEqual([true, seqs]);
      const got = received(session.session);
      expect([...new Set(got)]).toEqual(seqs);
      expect(got.every((seq, place) => place === 0 || seq <= (got[place - 1] ?? 0) + 1)).toBe(true);
    },
  });
  expect(calls).toEqual(expect.arrayContaining(["events.append", "events.end", "cursors.set", "streams.open"]));
}, 120_000);
