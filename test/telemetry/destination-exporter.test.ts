/** An exporter that follows its destination: rotated headers, another server, a deletion; and what users are told of it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LeaseRecord } from "../../src/leases/records.ts";
import { createResolveName } from "../../src/net/resolve-name.ts";
import { createExportCursors } from "../../src/redis/export-cursors.ts";
import { createTelemetryStore } from "../../src/redis/telemetry-store.ts";
import { telemetryDestinationKind } from "../../src/resources/telemetry-destination.ts";
import type { TelemetryRecord } from "../../src/resources/telemetry-event.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { createExports } from "../../src/services/telemetry/exports.ts";
import { createDestinationExporter } from "../../src/services/telemetry-destinations/destination-exporter.ts";
import { eventually } from "../support/eventually.ts";
import { startLeaseParts } from "../support/lease-parts.ts";
import { fresh, startVaultParts, type VaultParts } from "../vault/vault-parts.ts";

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

/** Lets through who has the key. */
const receiver = async (key: string) => {
  const hits: string[] = [];
  const server = createServer((from, to) => {
    hits.push(String(from.headers["x-key"]));
    from.resume().on("end", () => to.writeHead(from.headers["x-key"] === key ? 200 : 401).end());
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  stack.defer(() => void server.close());
  return { hits, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
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
});

// TELEMETRY-23, TELEMETRY-27
test("a session goes on to export when its destination is made anew under its name", async () => {
  const { redis } = stack.use(await startLeaseParts());
  const [hitsOfFirst, hitsOfSecond] = [await receiver("first"), await receiver("second")];
  const [name, session] = [fresh("d"), newId()];
  const make = async ({ endpoint }: { endpoint: string }, key: string): Promise<string> =>
    (await parts.call("POST", "/telemetry/destinations", { name, endpoint, headers: { "x-key": key } })).body.id;
  const events = createTelemetryStore(redis);
  const dropped: string[] = [];
  let nowMs = 0;
  const exports = createExports({
    ...parts.services,
    events,
    cursors: createExportCursors(redis),
    resolve: createResolveName(),
    now: () => nowMs,
    onDropped: (_count, reason) => dropped.push(reason),
  });
  const over = new AbortController();
  const exporting = exports.of(session, over.signal);
  const request = JSON.stringify({ timeout_seconds: 60, project: parts.projectId, pool: { id: "p", uid: newId() } });
  const lease = { session, request } as LeaseRecord;
  const follow = () => exporting.follow(lease, { export: { otlp: { enabled: true, destination: { name } } } });
  const happen = async (seq: number): Promise<void> => {
    const kept = { seq, ts: seq, event: JSON.stringify({ ...record.event, ts: seq }) };
    await events.append(session, [kept], { bytes: 1e6, seconds: 600 });
    exporting.wake();
  };
  try {
    const id = await make(hitsOfFirst, "first");
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
    await make(hitsOfSecond, "second");
    await eventually("the second one has an event", async () => {
      await follow();
      seq += 1;
      await happen(seq);
      return hitsOfSecond.hits.length > 0;
    });
    expect(hitsOfSecond.hits.every((key) => key === "second")).toBe(true);
  } finally {
    over.abort();
    await exporting.finish(0);
  }
});
