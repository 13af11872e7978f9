/** An exporter that follows its destination: rotated headers, another server, a deletion; and what users are told of it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createResolveName } from "../../src/net/resolve-name.ts";
import { telemetryDestinationKind } from "../../src/resources/telemetry-destination.ts";
import type { TelemetryRecord } from "../../src/resources/telemetry-event.ts";
import { createDestinationExporter } from "../../src/services/telemetry-destinations/destination-exporter.ts";
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
