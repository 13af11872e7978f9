import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { type Lead, type LeaderElection, startLeaderElection } from "../../../src/platform/kube/leader-election.ts";
import { leases } from "../../../src/platform/kube/resource-type.ts";
import { kubeconfigBehindLink } from "../../support/breakable-link.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger("silent", "test");
const timing = { durationMs: 3000, renewDeadlineMs: 2000, renewMs: 200 };
/** A lease that does not expire within a test. */
const lasting = { ...timing, durationMs: 600_000 };
let kube: Kube;
let kubeconfigPath: string;
let lease: { namespace: string; name: string };
let history: string[];
const started: LeaderElection[] = [];
const checks = new Map<string, () => void>();

beforeAll(async () => {
  ({ kubeconfigPath } = await sharedServers());
  kube = connectKube({ kubeconfigPath });
  lease = { namespace: (await testNamespace(kube)).name, name: "" };
});
afterAll(() => kube.close());
beforeEach(() => {
  lease = { ...lease, name: `lease-${newId()}` };
  history = [];
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((election) => election.stop()));
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const run = (identity: string, through = kube, work = untilAborted, times = timing): LeaderElection => {
  const lead = async ({ signal, check }: Lead): Promise<void> => {
    checks.set(identity, check);
    history.push(`${identity} leads`);
    try {
      await work(signal);
    } finally {
      history.push(`${identity} ends`);
    }
  };
  const election = startLeaderElection({ kube: through, lease, identity, lead, log, timing: times });
  started.push(election);
  return election;
};
const happened = (what: string) => eventually(what, () => history.includes(what));

test("a replica that was frozen past its deadline notices before its timers fire", async () => {
  run("a");
  await happened("a leads");
  const check = checks.get("a") ?? (() => undefined);
  expect(check).not.toThrow();
  // Blocks this whole process with its timers, as SIGSTOP does.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timing.renewDeadlineMs + 50);
  expect(check).toThrow("does not lead");
  await happened("a ends");
});

test("one replica leads; when it stops, another takes over before the lease expires", async () => {
  const a = run("a", kube, untilAborted, lasting);
  await happened("a leads");
  const b = run("b", kube, untilAborted, lasting);
  expect(b.isLeader()).toBe(false);
  await a.stop();
  await happened("b leads");
  expect(history).toEqual(["a leads", "a ends", "b leads"]);
  expect([a.isLeader(), b.isLeader()]).toEqual([false, true]);
});

test("a replica that only waited leaves the lease to the leader when it stops", async () => {
  const a = run("a");
  await happened("a leads");
  const b = run("b");
  await sleep(2 * timing.renewMs);
  await b.stop();
  expect((await kube.get(leases, lease))?.spec?.holderIdentity).toBe("a");
  expect([a.isLeader(), history]).toEqual([true, ["a leads"]]);
});

test("of many that start at once exactly one leads", async () => {
  const elections = ["a", "b", "c", "d", "e"].map((identity) => run(identity));
  await eventually("one leads", () => history.length > 0);
  const { metadata } = (await kube.get(leases, lease)) ?? {};
  await eventually("it has renewed its lease", async () => {
    const now = await kube.get(leases, lease);
    return now?.metadata.resourceVersion !== metadata?.resourceVersion;
  });
  expect(history).toHaveLength(1);
  expect(elections.filter((election) => election.isLeader())).toHaveLength(1);
});

test("a leader that can't reach the API stops its work before another may take over, also when no call is refused", async () => {
  await using behind = await kubeconfigBehindLink(kubeconfigPath);
  // A call that hangs this long is still pending when the lease expires.
  const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 4000 });
  const a = run("a", far);
  await happened("a leads");
  run("b");
  behind.link.freeze();
  await happened("b leads");
  expect(history).toEqual(["a leads", "a ends", "b leads"]);
  behind.link.thaw();
  await a.stop();
  await far.close();
});

test("a leader whose lease another replica has taken ends its work", async () => {
  // Fails by the wait for the end of its work.
  run("a");
  await happened("a leads");
  const known = await kube.get(leases, lease);
  await kube.patch(leases, lease, { spec: { ...known?.spec, holderIdentity: "somebody" } });
  await happened("a ends");
});

test("work that fails gives up the lead, and is tried again", async () => {
  let tries = 0;
  run("a", kube, async (signal) => {
    tries++;
    if (tries === 1) throw new Error("not yet");
    await untilAborted(signal);
  });
  await eventually("it leads again", () => history.length === 3);
  expect(history).toEqual(["a leads", "a ends", "a leads"]);
});
