/** What HTTP tells of a pool besides its counts: who waits for its browsers, and what Kubernetes says of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { newPodSuffix } from "../../../src/core/protocol/agent-key.ts";
import { events } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const read = async <T>(path: string): Promise<T> => (await (await stack.call("GET", path)).json()) as T;

type Queued = { session_id: string; name?: string; tags?: object; requested_at: string };

test("the queue of a pool has the callers that wait, the next one first, and since when", async () => {
  const pool = await filledPool(stack.kernel, { size: 1 });
  const path = `/browser_pools/${pool.id}`;
  const held = await stack.kernel.browserPools.acquire(pool.id, {});
  expect(await read(`${path}/queue`)).toEqual([]);
  const before = Date.now();
  const first = stack.kernel.browserPools.acquire(pool.id, { name: "first", tags: { team: "a" } } as object);
  const queued = (count: number): Promise<Queued[]> =>
    eventually(`${count} wait`, async () => {
      const queue = await read<Queued[]>(`${path}/queue`);
      return queue.length === count && queue;
    });
  await queued(1);
  const gone = new AbortController();
  const second = stack.kernel.browserPools.acquire(pool.id, {}, { signal: gone.signal }).catch(() => undefined);
  const [one, other] = await queued(2);
  expect(one).toEqual({
    session_id: expect.any(String),
    name: "first",
    tags: { team: "a" },
    requested_at: expect.stringMatching(/Z$/),
  });
  expect(other?.name).toBeUndefined();
  for (const at of [one, other].map((each) => Date.parse(each?.requested_at ?? ""))) {
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  }
  gone.abort();
  await second;
  await queued(1);
  await stack.kernel.browserPools.release(pool.id, { session_id: held.session_id });
  const granted = (await first) as { session_id: string; requested_at?: string; created_at: string };
  expect(granted.session_id).toBe(one?.session_id);
  expect(granted.requested_at).toBe(one?.requested_at);
  expect(Date.parse(granted.created_at)).toBeGreaterThanOrEqual(Date.parse(granted.requested_at ?? ""));
  expect(await read(`${path}/queue`)).toEqual([]);
});

type Told = { type: string; reason: string; message: string; kind: string; name: string; node?: string; count: number };

test("the Events of a pool are those about it, and the warnings about its own pods, the latest first", async () => {
  const name = "told";
  const meta = { namespace: stack.namespace };
  await stack.kube.create(browserPoolKind, { metadata: { ...meta, name }, spec: { size: 100_000 } as never });
  const path = `/browser_pools/${name}/events`;
  const [refused] = await eventually("the operator has refused the pool", async () => {
    const told = await read<Told[]>(path);
    return told.length > 0 && told;
  });
  expect(refused).toMatchObject({
    type: "Warning",
    kind: "BrowserPool",
    name,
    message: expect.stringContaining("size"),
  });
  const tell = (pod: string, type: string, minutes: number): Promise<unknown> =>
    stack.kube.create(events, {
      metadata: { ...meta, name: `${pod}.${type.toLowerCase()}` },
      eventTime: new Date(Date.now() + minutes * 60_000).toISOString().replace("Z", "000Z") as never,
      ...{ reportingController: "kubelet", reportingInstance: "node-7", action: "Pulling", type, reason: "Failed" },
      note: `${type} about ${pod}`,
      regarding: { apiVersion: "v1", kind: "Pod", namespace: stack.namespace, name: pod, uid: "u" },
    });
  const [own, later] = [`${name}-${newPodSuffix()}`, `${name}-${newPodSuffix()}`];
  await tell(own, "Warning", 1);
  await tell(later, "Warning", 2);
  await tell(own, "Normal", 3);
  // Of the pool `told-too`.
  await tell(`${name}-too-${newPodSuffix()}`, "Warning", 4);
  const told = await read<Told[]>(path);
  expect(told.slice(0, 3)).toEqual([
    expect.objectContaining({
      name: later,
      node: "node-7",
      reason: "Failed",
      message: `Warning about ${later}`,
      count: 1,
    }),
    expect.objectContaining({ name: own, type: "Warning" }),
    expect.objectContaining({ kind: "BrowserPool", name }),
  ]);
  expect((await stack.call("GET", "/browser_pools/none/events")).status).toBe(404);
});
