import { expect, test } from "vitest";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import { createObjectChanges } from "./object-changes.ts";

const object = (uid: string, more: Partial<NamespacedObject["metadata"]> = {}): NamespacedObject => ({
  metadata: { name: "one", namespace: "ns", uid, resourceVersion: "1", ...more },
});

// EVENT-2
test("an object is created once, changed, and deleted once: when its deletion begins", () => {
  const changes = createObjectChanges(({ metadata }) => ({ id: metadata.name }));
  const told = [
    changes(object("a"), "ADDED"),
    changes(object("a"), "MODIFIED"),
    changes(object("a", { deletionTimestamp: "2030-01-01T00:00:00Z" }), "MODIFIED"),
    changes(object("a", { deletionTimestamp: "2030-01-01T00:00:00Z" }), "DELETED"),
    changes(object("b"), "ADDED"),
    changes(object("b"), "DELETED"),
    // Its deletion had begun before anybody looked.
    changes(object("c", { deletionTimestamp: "2030-01-01T00:00:00Z" }), "ADDED"),
    changes(object("c"), "DELETED"),
  ];
  expect(told.map((change) => change?.event)).toEqual([
    ...["created", "changed", "deleted", undefined],
    ...["created", "deleted", undefined, undefined],
  ]);
});
