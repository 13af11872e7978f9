import { createServer } from "node:http";
import { expect, test } from "vitest";
import { listeningPort } from "../../../src/platform/base/listening-port.ts";
import { Sensitive } from "../../../src/platform/base/sensitive.ts";
import { startSpanExporter } from "../../../src/platform/tracing/span-exporter.ts";
import { createTracer, traced } from "../../../src/platform/tracing/tracer.ts";

/** A receiver that answers with this status once it is let. */
const startReceiver = async (status: number) => {
  const asked: { authorization: string | undefined; bytes: number }[] = [];
  const gate = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on("end", async () => {
      asked.push({ authorization: request.headers.authorization, bytes });
      await gate.promise;
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    answer: gate.resolve,
    endpoint: `http://127.0.0.1:${listeningPort(server)}/v1/traces`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const start = async (endpoint: string) => {
  const dropped: Record<string, number> = {};
  const exporter = await startSpanExporter(
    { endpoint, headers: { authorization: new Sensitive("Bearer x") }, serviceName: "test" },
    {
      onDropped(count, reason) {
        dropped[reason] = (dropped[reason] ?? 0) + count;
      },
    },
  );
  const tracer = createTracer({ ratio: 1, onEnd: exporter.add });
  const end = (count: number): void => {
    for (let left = count; left > 0; left--) tracer.begin({ name: "one", kind: "internal", parent: undefined }).end();
  };
  return { dropped, exporter, tracer, end };
};

test("spans wait for a slow receiver up to a bound, and what is beyond it is counted as dropped", async () => {
  await using receiver = await startReceiver(200);
  const { dropped, exporter, end } = await start(receiver.endpoint);
  // The first batch is on its way, and the queue is full behind it.
  end(512 + 2048 + 7);
  expect(dropped).toEqual({ queue_full: 7 });
  receiver.answer();
  await exporter.stop();
  expect(dropped).toEqual({ queue_full: 7 });
  expect(receiver.asked.length).toBe(5);
  for (const { authorization, bytes } of receiver.asked) {
    expect(authorization).toBe("Bearer x");
    expect(bytes).toBeGreaterThan(512);
  }
});

test("a batch that the receiver refuses is counted and not sent again", async () => {
  await using receiver = await startReceiver(503);
  receiver.answer();
  const { dropped, exporter, end } = await start(receiver.endpoint);
  end(3);
  await exporter.stop();
  expect(dropped).toEqual({ refused: 3 });
  expect(receiver.asked).toHaveLength(1);
});

test("work is done in a span below the one that it belongs to, and a failed span says so", async () => {
  const ended: { name: string; parentSpanId: string | undefined; failed: boolean }[] = [];
  const tracer = createTracer({ ratio: 1, onEnd: (span) => ended.push(span) });
  const span = tracer.begin({ name: "request", kind: "server", parent: undefined });
  const work = () => traced(tracer, { name: "step" }, () => Promise.reject(new Error("no")));
  await expect(tracer.within(span, work)).rejects.toThrow("no");
  expect(ended).toMatchObject([{ name: "step", parentSpanId: span.context.spanId, failed: true }]);
  // Outside of a span nothing is recorded.
  expect(await traced(tracer, { name: "step" }, async () => 1)).toBe(1);
  expect(await traced(undefined, { name: "step" }, async () => 1)).toBe(1);
  expect(ended).toHaveLength(1);
});
