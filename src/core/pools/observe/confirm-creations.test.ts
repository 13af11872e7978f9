import { expect, test } from "vitest";
import { createExpectations } from "../../../platform/kube/expectations.ts";
import { KubeError } from "../../../platform/kube/kube-error.ts";
import { type ConfirmCreationsDeps, confirmCreations } from "./confirm-creations.ts";

const pool = { namespace: "project", uid: "pool" };

/** A pool with one pod in doubt, of which the API server says this. */
const doubting = (says: () => unknown) => {
  let now = 0;
  const expectations = createExpectations(() => now);
  expectations.expect("pool", "pod-a");
  expectations.markUnanswered("pool", "pod-a");
  const known: string[] = [];
  const begun: string[] = [];
  const asked: object[] = [];
  const swept: number[] = [];
  const deps = {
    kube: {
      async get(_: unknown, ref: object) {
        asked.push(ref);
        return says();
      },
    },
    keySweeps: { request: () => swept.push(expectations.pending("pool")) },
    pods: { put: (pod: { metadata: { uid: string } }) => known.push(pod.metadata.uid) },
    starts: { begun: (uid: string) => begun.push(uid) },
    expectations,
  } as unknown as ConfirmCreationsDeps;
  const later = (ms: number): void => {
    now += ms;
  };
  return { settle: () => confirmCreations(pool, deps), expectations, known, begun, asked, swept, later };
};

test("a pod that is there after all is known, and no other one is missing", async () => {
  const { settle, expectations, known, begun, asked } = doubting(() => ({ metadata: { uid: "uid-a" } }));
  expect(await settle()).toBe(0);
  expect(asked).toEqual([{ namespace: "project", name: "pod-a" }]);
  expect([known, begun]).toEqual([["uid-a"], ["uid-a"]]);
  expect(expectations.pending("pool")).toBe(0);
  expect(await settle()).toBe(0);
  expect(asked).toHaveLength(1);
});

test("one that is not there counts until no call can create it any more", async () => {
  const { settle, expectations, known, swept, later } = doubting(() => undefined);
  later(14_999);
  expect(await settle()).toBe(1);
  expect(expectations.pending("pool")).toBe(1);
  later(1);
  expect(await settle()).toBe(0);
  expect(expectations.pending("pool")).toBe(0);
  expect(known).toEqual([]);
  // The Secret of its agent's key is left over.
  expect(swept).toEqual([0]);
});

test("while the API server does not answer, the doubt stays", async () => {
  const { settle, expectations, later } = doubting(() => {
    throw new KubeError("Unreachable", 0, "no answer");
  });
  later(20_000);
  expect(await settle()).toBe(1);
  expect(expectations.pending("pool")).toBe(1);
});
