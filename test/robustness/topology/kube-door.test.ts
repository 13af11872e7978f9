/** The door in front of a real API server: what each of its faults does to a watch and to requests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createLogger, type Logger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { hasReason } from "../../../src/platform/kube/kube-error.ts";
import type { Lease } from "../../../src/platform/kube/objects.ts";
import { type Reflector, startReflector } from "../../../src/platform/kube/reflector.ts";
import { leases } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { type KubeDoor, openKubeDoor } from "./kube-door.ts";

let folder: string;
let direct: Kube;
let namespace: string;
let door: KubeDoor;
let kube: Kube;
let seen: Reflector<Lease>;
/** What the watch of `seen` complained of. */
let warnings: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bp-door-"));
  const { kubeconfigPath } = await sharedServers();
  direct = connectKube({ kubeconfigPath });
  namespace = (await testNamespace(direct)).name;
});
afterAll(async () => {
  await direct?.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  const { kubeconfigPath } = await sharedServers();
  door = await openKubeDoor("replica", { kubeconfigPath, folder });
  kube = connectKube({ kubeconfigPath: door.kubeconfigPath });
  warnings = [];
  const log: Logger = createLogger("silent", "test");
  log.warn = (fields: object) => void warnings.push(JSON.stringify(fields));
  seen = startReflector<Lease>({ kube, type: leases, namespace, onChange: () => undefined, log });
  await seen.synced();
});
afterEach(async () => {
  await seen.stop();
  await kube.close();
  door.stop();
});

/** What a new watch through the door says first; undefined when it is refused. */
const firstEvent = async (): Promise<unknown> => {
  const until = new AbortController();
  const watch = kube.watch(leases, { namespace, resourceVersion: "0" }, until.signal)[Symbol.asyncIterator]();
  const { value } = await watch.next().catch(() => ({ value: undefined }));
  until.abort();
  return value;
};

let last = 0;
/** Makes an object past the door. */
const make = async (): Promise<string> => {
  last += 1;
  const name = `lease-${last}`;
  await direct.create(leases, { metadata: { name, namespace } });
  return name;
};
const isSeen = (name: string): boolean => seen.get({ name, namespace }) !== undefined;
const whenSeen = (name: string) => eventually(`${name} is seen`, () => isSeen(name));

test("what a held watch brings waits, while requests go through, and comes in its order when it is let go", async () => {
  await whenSeen(await make());
  door.holdWatches(true);
  const names = [await make(), await make()];
  await sleep(300);
  expect(names.some(isSeen)).toBe(false);
  expect(await kube.get(leases, { name: names[0] ?? "", namespace })).toBeDefined();
  door.holdWatches(false);
  await whenSeen(names[1] ?? "");
  expect(isSeen(names[0] ?? "")).toBe(true);
});

test("what a late watch brings is as old as it was told to be", async () => {
  await whenSeen(await make());
  door.delayWatches(1500);
  const madeMs = performance.now();
  await whenSeen(await make());
  expect(performance.now() - madeMs).toBeGreaterThan(1400);
});

test("a watch that was shut is told 410 once, and what it missed is seen by a new list", async () => {
  await whenSeen(await make());
  door.shutWatches(true);
  const missed = await make();
  await sleep(300);
  expect(isSeen(missed)).toBe(false);
  expect(await firstEvent()).toBeUndefined();
  door.shutWatches(false);
  await whenSeen(missed);
  expect(warnings).toContainEqual(expect.stringContaining("too old resource version"));
  expect(await firstEvent()).toMatchObject({ type: "ADDED" });
});

test("a mute door has requests carried out and loses their answers", async () => {
  door.muteRequests(true);
  const metadata = { name: "unheard", namespace };
  await expect(kube.create(leases, { metadata })).rejects.toSatisfy((error) => hasReason(error, "Unreachable"));
  door.muteRequests(false);
  expect(await kube.get(leases, metadata)).toBeDefined();
});
