/** Spans of a session: from its acquire over its bind to the socket of its client. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { parseTraceparent } from "../../src/platform/tracing/trace-context.ts";
import type { ApiReplica } from "../support/cluster.ts";
import { type Collector, startCollector, withoutCollector } from "../support/collector.ts";
import { eventually } from "../support/eventually.ts";
import { fullPool, type PoolClient, type Session } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

const given = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const header = (flag: number): string => `00-${given.traceId}-${given.spanId}-0${flag}`;

type Span = Record<string, string> | undefined;

/** Their times have nanoseconds, which no Date has. */
const within = (inner: Span, outer: Span): boolean => {
  const [begun, from, to, ended] = [
    outer?.["Start time"],
    inner?.["Start time"],
    inner?.["End time"],
    outer?.["End time"],
  ].map((time) => /(\d{4}-\S+ [\d:]+)(\.\d+)?/.exec(time ?? ""));
  const texts = [begun, from, to, ended].map((time) => `${time?.[1]}${(time?.[2] ?? ".").padEnd(10, "0")}`);
  return texts.join() === [...texts].sort().join();
};

describe.skipIf(withoutCollector())("with a receiver of spans", () => {
  let collector: Collector;
  let cluster: SimulatedCluster;
  let api: ApiReplica;
  let pool: PoolClient;

  beforeAll(async () => {
    collector = await startCollector();
    cluster = await startSimulatedCluster({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20receiver-secret",
        OTEL_TRACES_SAMPLER_ARG: "0",
      },
    });
    await cluster.startOperator("operator").logged("leading");
    api = await cluster.startApi("api");
    pool = await fullPool(api.call, 2);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
  });

  const post = (path: string, traceparent?: string, tracestate?: string): Promise<Response> =>
    fetch(`${api.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${cluster.apiKey}`,
        "content-type": "application/json",
        ...(traceparent && { traceparent }),
        ...(tracestate && { tracestate }),
      },
      body: "{}",
    });
  const acquire = (...headers: string[]): Promise<Response> => post(`/browser_pools/${pool.id}/acquire`, ...headers);

  test("an acquire, its bind and the socket are spans of the caller's trace, without secrets", async () => {
    const response = await acquire(header(1), "vendor=first,other@system=second");
    expect(response.headers.get("tracestate")).toBe("vendor=first,other@system=second");
    const session = (await response.json()) as Session;
    const answered = parseTraceparent(response.headers.get("traceparent") ?? undefined);
    expect(answered).toMatchObject({ traceId: given.traceId, sampled: true });
    const socket = new WebSocket(session.cdp_ws_url);
    await Promise.race([once(socket, "open"), once(socket, "error")]).catch(() => undefined);
    socket.terminate();

    const named = (name: string) =>
      collector.spans().find((span) => span.Name === name && span["Trace ID"] === given.traceId);
    const route = "POST /browser_pools/{id_or_name}/acquire";
    const names = [route, "acquire", "bind", "GET /gateway/{session}/cdp", "agent.health_check", "agent.fence"];
    await eventually("all spans are received", async () => names.every((name) => named(name) !== undefined));
    const [server, lease, bind, gateway, ...parts] = names.map(named);
    expect(server).toMatchObject({
      ...{ ID: answered?.spanId, "Parent ID": given.spanId, Kind: "Server" },
      ...{ "http.response.status_code": "200", "http.route": "/browser_pools/{id_or_name}/acquire" },
    });
    expect(lease).toMatchObject({ "Parent ID": server?.ID, Kind: "Internal", "browserpool.pool.id": pool.id });
    expect(bind).toMatchObject({ "Parent ID": lease?.ID, Kind: "Client", "session.id": session.session_id });
    expect(gateway).toMatchObject({ "Parent ID": server?.ID, Kind: "Server" });

    for (const part of parts) {
      expect(part).toMatchObject({ "Parent ID": bind?.ID, Kind: "Internal" });
      expect(within(part, bind), part?.Name).toBe(true);
    }
    for (const span of [server, lease, bind, gateway, ...parts])
      expect(span?.TraceState).toBe("vendor=first,other@system=second");

    const token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "no token";
    for (const secret of [cluster.apiKey, token, "receiver-secret", "jwt="])
      expect(collector.printed()).not.toContain(secret);
    const log = await readFile(join(cluster.dataDir, "api-1.log"), "utf8");
    expect(log).toContain(`"trace_id":"${given.traceId}","span_id":"${answered?.spanId}"`);
    expect(log).not.toContain("receiver-secret");
    expect(await pool.release(session)).toBe(204);
  });

  test("the end of a session and the reset of its browser are spans of the trace of its acquire", async () => {
    const traceId = "11f92f3577b34da6a3ce929d0e0e4736";
    const response = await acquire(`00-${traceId}-${given.spanId}-01`);
    const session = (await response.json()) as Session;
    const acquired = parseTraceparent(response.headers.get("traceparent") ?? undefined);
    const socket = new WebSocket(session.cdp_ws_url);
    await once(socket, "open");
    socket.terminate();
    await cluster.node.turn({}, { resetMs: 300 });
    // The release itself is not recorded.
    expect(await pool.release(session)).toBe(204);

    const named = (name: string) =>
      collector.spans().filter((span) => span.Name === name && span["Trace ID"] === traceId);
    await eventually("they are received", async () => named("end").length === 1 && named("agent.reset").length === 1);
    const [end, reset, part] = ["end", "reset", "agent.reset"].map((name) => named(name)[0]);
    for (const span of [end, reset])
      expect(span).toMatchObject({ "Parent ID": acquired?.spanId, Kind: "Client", "session.id": session.session_id });
    expect(part).toMatchObject({ "Parent ID": reset?.ID });
    expect(within(part, reset)).toBe(true);
    await cluster.node.turn({}, {});
  });

  test("the start of an on-demand browser is a trace of the operator, by stage, linked to its request", async () => {
    const traceId = "22f92f3577b34da6a3ce929d0e0e4736";
    const response = await post("/browsers", `00-${traceId}-${given.spanId}-01`);
    expect(response.status).toBe(200);
    const session = (await response.json()) as Session;
    const asked = parseTraceparent(response.headers.get("traceparent") ?? undefined);

    const all = () => collector.spans().filter((span) => span["Link Trace ID"] === traceId);
    const isReceived = (wanted: Record<string, string | undefined>) =>
      collector.spans().some((span) => Object.entries(wanted).every(([name, value]) => span[name] === value));
    await eventually("the start is received", async () => isReceived({ Name: "start.registered" }));
    await eventually("so is its request", async () => isReceived({ ID: asked?.spanId }));
    const [start] = all();
    expect(start).toMatchObject({
      ...{ Name: "start", "Parent ID": "", "Link ID": asked?.spanId, Kind: "Internal" },
      ...{ "session.id": session.session_id, "k8s.namespace.name": expect.any(String) },
    });
    expect(start?.["Trace ID"]).not.toBe(traceId);
    const stages = collector.spans().filter((span) => span["Parent ID"] === start?.ID);
    expect(stages.map(({ Name }) => Name)).toEqual([
      "start.scheduled",
      "start.running",
      "start.ready",
      "start.registered",
    ]);
    for (const stage of stages) expect(within(stage, start), stage.Name).toBe(true);
    // The share is 0: of the pool's browsers, which nobody has asked for, there is nothing.
    expect(collector.spans().filter(({ Name }) => Name === "start")).toHaveLength(1);
    expect(collector.printed()).toContain("service.name: Str(browserpool-operator)");
    expect((await api.call("DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
  });

  test("what its caller does not record, and what the share leaves out, is no span; the trace goes on", async () => {
    const before = collector.spans().length;
    const unrecorded = await acquire(header(0), "vendor=first");
    expect(unrecorded.headers.get("tracestate")).toBeNull();
    expect(unrecorded.headers.get("traceparent")).toMatch(new RegExp(`^00-${given.traceId}-[0-9a-f]{16}-00$`));
    const own = await acquire();
    expect(own.headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    for (const response of [unrecorded, own]) await pool.release((await response.json()) as Session);
    // One that is recorded comes after those would have come.
    const last = await acquire(header(1));
    await pool.release((await last.json()) as Session);
    const id = parseTraceparent(last.headers.get("traceparent") ?? undefined)?.spanId;
    await eventually("the last one is received", async () => collector.spans().some((span) => span.ID === id));
    expect(
      collector
        .spans()
        .slice(before)
        .filter(({ Kind }) => Kind === "Server"),
    ).toHaveLength(1);
  });

  test("spans that nobody takes are dropped and counted, and requests are served", async () => {
    await collector.kill();
    const session = (await (await acquire(header(1))).json()) as Session;
    expect(await pool.release(session)).toBe(204);
    await eventually("they are counted", async () => {
      const metrics = await (await fetch(`${api.url}/metrics`)).text();
      return /^browserpool_spans_dropped_total\{reason="no_answer"\} [1-9]/m.test(metrics);
    });
  });
});
