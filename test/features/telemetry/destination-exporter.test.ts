/**
 * An exporter that follows its destination: rotated headers, another server, a deletion; and what users are told of it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createDestinationExporter } from "../../../src/features/telemetry/destinations/destination-exporter.ts";
import {
  TelemetryDestinationSpec,
  telemetryDestinationKind,
} from "../../../src/features/telemetry/destinations/telemetry-destination.ts";
import { createExportCursors } from "../../../src/features/telemetry/export-state.ts";
import { createExports } from "../../../src/features/telemetry/exports.ts";
import type { TelemetryRecord } from "../../../src/features/telemetry/telemetry-event.ts";
import { createTelemetryStore } from "../../../src/features/telemetry/telemetry-store.ts";
import { createResolveName } from "../../../src/platform/net/resolve-name.ts";
import { eventually } from "../../support/eventually.ts";
import { startLeaseParts } from "../../support/lease-parts.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";

const never = new AbortController().signal;
const record: TelemetryRecord = {
  seq: 1,
  event: { category: "page", type: "page_load", ts: 1, source: { kind: "cdp" } },
};
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let parts: VaultParts;
beforeAll(async () => {
  const settings = { BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS: "127.0.0.1" };
  parts = stack.use(await startVaultParts({ settings }));
});

/** Lets through who has the key. `hold`: answers nobody until the returned function is called. */
const receiver = async (key: string) => {
  const hits: string[] = [];
  let held = Promise.resolve();
  const server = createServer(async (from, to) => {
    hits.push(String(from.headers["x-key"]));
    await text(from);
    await held;
    to.writeHead(from.headers["x-key"] === key ? 200 : 401).end();
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  stack.defer(() => void server.close());
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  return { hits, hold, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

// TELEMETRY-24, TELEMETRY-27
test("an exporter takes what its destination has become, tells users how it goes, and ends with it", async () => {
  const [first, second] = [await receiver("new"), await receiver("other")];
  const name = fresh("d");
  const body = { name, endpoint: first.endpoint, headers: { "x-key": "old" } };
  const made = (await parts.call("POST", "/telemetry/destinations", body)).body;
  const path = `/telemetry/destinations/${made.id}`;
  const place = { name: made.id, namespace: parts.namespace };
  const uid = (await parts.kube.get(telemetryDestinationKind, place))?.metadata.uid ?? "";
  let nowMs = 0;
  const exporter = createDestinationExporter(
    { id: made.id, uid, namespace: parts.namespace },
    { ...parts.services, resolve: createResolveName(), now: () => nowMs },
  );
  stack.defer(() => exporter.close());
  const send = () => exporter.export({ sessionId: "s", projectId: "p" }, [record], never);
  const told = async () => (await parts.call("GET", path)).body;

  expect(await send()).toMatchObject({ rejected: 1, reason: "http_401" });
  expect(await told()).toMatchObject({ consecutive_failures: 1, last_error: "http_401" });
  await parts.call("PATCH", path, { headers: { "x-key": "new" } });
  expect(await send()).toBe("sent");
  expect(await told()).toMatchObject({ consecutive_failures: 0, last_export_at: expect.any(String) });

  await parts.call("PATCH", path, { endpoint: second.endpoint, headers: { "x-key": "other" } });
  nowMs = 20_000;
  expect(await send()).toBe("sent");
  expect([first.hits, second.hits]).toEqual([["old", "new"], ["other"]]);

  // By YAML to the first one again: the headers were not given for it.
  await parts.kube.patch(telemetryDestinationKind, place, { spec: { endpoint: first.endpoint } });
  nowMs = 40_000;
  expect(await send()).toEqual({ retryAfterMs: 0, reason: "destination_broken" });
  expect([first.hits.length, second.hits.length]).toEqual([2, 1]);
  await parts.call("DELETE", path);
  expect(await send()).toMatchObject({ rejected: 1, reason: "destination_deleted" });

  // By YAML another one under its id: the events of the old one's sessions are not for it.
  await eventually("it is gone", async () => !(await parts.kube.get(telemetryDestinationKind, place)));
  await parts.kube.create(telemetryDestinationKind, {
    metadata: place,
    spec: TelemetryDestinationSpec.parse({ name, endpoint: first.endpoint }),
  });
  nowMs = 60_000;
  expect(await send()).toMatchObject({ rejected: 1, reason: "destination_deleted" });
  expect(first.hits.length).toBe(2);
});

/** Sessions that export on this replica. `session`: begins one to the destination of this name. */
const exporting = async (more: { now?: () => number; onDropped?: (count: number, reason: string) => void } = {}) => {
  const { redis } = stack.use(await startLeaseParts());
  const events = createTelemetryStore(redis);
  const exports = createExports({
    ...parts.services,
    ...{ events, cursors: createExportCursors(redis), resolve: createResolveName() },
    ...{ now: () => 0, onDropped: () => undefined, ...more },
  });
  const over = new AbortController();
  const session = (name: string) => {
    const id = newId();
    const own = exports.of(id, over.signal);
    const request = {
      timeout_seconds: 60,
      max_session_seconds: 3600,
      project: parts.projectId,
      pool: { id: "p", uid: newId() },
    };
    const lease = { session: id, request: JSON.stringify(request) } as LeaseRecord;
    return {
      finish: own.finish,
      follow: () => own.follow(lease, { export: { otlp: { enabled: true, destination: { name } } } }),
      async happen(seq: number) {
        const kept = { seq, ts: seq, event: JSON.stringify({ ...record.event, ts: seq }) };
        await events.append(id, [kept], { bytes: 1e6, seconds: 600 });
        own.wake();
      },
    };
  };
  return { session, over };
};
const makeDestination = async (name: string, { endpoint }: { endpoint: string }, key: string): Promise<string> =>
  (await parts.call("POST", "/telemetry/destinations", { name, endpoint, headers: { "x-key": key } })).body.id;

// TELEMETRY-23
test("a session that ends leaves what another one is sending to its destination alone", async () => {
  const { hits, endpoint, hold } = await receiver("key");
  const name = fresh("d");
  await makeDestination(name, { endpoint }, "key");
  const { session, over } = await exporting();
  const [first, second] = [session(name), session(name)];
  for (const each of [first, second]) {
    await each.follow();
    await each.happen(1);
  }
  await eventually("both have sent", () => hits.length === 2);
  const answer = hold();
  await second.happen(2);
  await eventually("the other one sends", () => hits.length === 3);
  await first.finish(5000);
  answer();
  await second.finish(5000);
  // It was not cut off, and not sent again.
  expect(hits.length).toBe(3);
  over.abort();
});

// TELEMETRY-23, TELEMETRY-27
test("a session goes on to export when its destination is made anew under its name", async () => {
  const [hitsOfFirst, hitsOfSecond] = [await receiver("first"), await receiver("second")];
  const name = fresh("d");
  const dropped: string[] = [];
  let nowMs = 0;
  const onDropped = (_count: number, reason: string): void => void dropped.push(reason);
  const { session, over } = await exporting({ now: () => nowMs, onDropped });
  const { follow, happen, finish } = session(name);
  try {
    const id = await makeDestination(name, hitsOfFirst, "first");
    await follow();
    await happen(1);
    await eventually("the first one has an event", () => hitsOfFirst.hits.length === 1);
    await parts.call("DELETE", `/telemetry/destinations/${id}`);
    await eventually(
      "it is gone",
      async () => (await parts.call("GET", `/telemetry/destinations/${id}`)).status === 404,
    );
    // A destination counts as unchanged for a moment.
    nowMs = 20_000;
    let seq = 1;
    await eventually("an event has no destination", async () => {
      seq += 1;
      await happen(seq);
      return dropped.includes("destination_deleted");
    });
    await makeDestination(name, hitsOfSecond, "second");
    await eventually("the second one has an event", async () => {
      await follow();
      seq += 1;
      await happen(seq);
      return hitsOfSecond.hits.length > 0;
    });
    expect(hitsOfSecond.hits.every((key) => key === "second")).toBe(true);
  } finally {
    over.abort();
    await finish(0);
  }
});
