import { expect, test } from "vitest";
import type { BindLease } from "../protocol/agent-api.ts";
import { onFirstCall, onFirstClient } from "./called-feature.ts";
import type { AdmittedUpgrade } from "./upgrades.ts";

const lease = (session_id: string) => ({ session_id }) as BindLease;

const featureOf = (told: string[]) => ({
  handlers: [],
  begin: ({ session_id }: BindLease) => void told.push(`begin ${session_id}`),
  end: () => void told.push("end"),
  changed: (outcome: string) => void told.push(outcome),
});

test("a feature is loaded once, and begins with the lease of that moment", async () => {
  const told: string[] = [];
  let made = 0;
  const gate = Promise.withResolvers<void>();
  const feature = onFirstCall(["things"], async () => {
    made += 1;
    await gate.promise;
    return featureOf(told);
  });
  feature.begin(lease("a"));
  feature.changed?.("changed", false);
  const loading = [feature.load(), feature.load()];
  feature.end();
  feature.begin(lease("b"));
  expect(feature.loaded()).toBeUndefined();
  gate.resolve();
  const [one, other] = await Promise.all(loading);
  expect([made, one === other, feature.loaded() === one]).toEqual([1, true, true]);
  feature.changed?.("changed", true);
  feature.end();
  feature.begin(lease("c"));
  expect(told).toEqual(["begin b", "changed", "end", "begin c"]);
});

test("a feature that is loaded after the lease begins with none", async () => {
  const told: string[] = [];
  const feature = onFirstCall(["things"], async () => featureOf(told));
  feature.begin(lease("a"));
  const loading = feature.load();
  feature.end();
  await loading;
  expect(told).toEqual([]);
});

test("a lease may need a feature before any call", async () => {
  const told: string[] = [];
  const feature = onFirstCall(["things"], async () => featureOf(told), {
    isNeeded: ({ session_id }) => session_id === "b",
  });
  feature.begin(lease("a"));
  feature.end();
  expect(told).toEqual([]);
  feature.begin(lease("b"));
  await feature.load();
  feature.end();
  expect(told).toEqual(["begin b", "end"]);
});

test("a client that has gone while the code was loaded is not served", async () => {
  const served: object[] = [];
  const serve = onFirstClient(async () => (upgrade) => void served.push(upgrade));
  const [here, gone] = [false, true].map((destroyed) => ({ client: { destroyed } }) as AdmittedUpgrade);
  for (const upgrade of [here, gone]) await serve(upgrade as AdmittedUpgrade);
  expect(served).toEqual([here]);
});
