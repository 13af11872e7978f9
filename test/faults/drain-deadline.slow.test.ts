/** A session on a drained node, beyond the drain deadline, on local mode as a user runs it. */
import { expect, onTestFinished, test } from "vitest";
import { events, nodes, pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { viewLeases } from "../support/lease-view.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { fullPool, openCdp } from "../support/pool-client.ts";

// LEASE-51, LEASE-66
test("a session ends at the drain deadline with its reason, not before, and then the node is free", async () => {
  const stack = await startLocalStack({ env: { BROWSERPOOL_DRAIN_DEADLINE_SECONDS: "10" } });
  const leases = await viewLeases(stack.redis_url, stack.kube);
  onTestFinished(async () => {
    leases.close();
    await stack[Symbol.asyncDispose]();
  });
  const pool = await fullPool(stack.call, 2);
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  const cordonedAtMs = performance.now();
  await stack.kube.patch(nodes, { name: "local" }, { spec: { unschedulable: true } });
  expect(await cdp.closed).toEqual([4003, Buffer.from("the session has ended: node_drained")]);
  expect(performance.now() - cordonedAtMs).toBeGreaterThanOrEqual(10_000);

  const ended = await leases.store.endedLease(await leases.uidOf(pool.id), session.session_id);
  expect(ended?.reason).toBe("node_drained");
  await eventually("no browser runs on the node", async () => {
    const { items } = await stack.kube.list(pods, { namespace: "default" });
    return items.every(({ spec }) => !spec?.nodeName);
  });
  await eventually("an event tells", async () => {
    const { items } = await stack.kube.list(events, { namespace: "default" });
    return (items as unknown as { reason: string }[]).some(({ reason }) => reason === "NodeDrained");
  });
});
