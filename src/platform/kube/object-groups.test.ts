import { expect, test } from "vitest";
import { createObjectGroups } from "./object-groups.ts";
import type { Pod } from "./objects.ts";

const pod = (name: string, pool: string): Pod => ({
  metadata: { name, namespace: "project", uid: `uid-${name}`, resourceVersion: "1", labels: { pool } },
});

test("an object is in the group that its newest version names, and in none once it is gone", () => {
  const groups = createObjectGroups<Pod>(({ metadata }) => metadata.labels?.pool ?? "");
  const names = (group: string): string[] => groups.of(group).map(({ metadata }) => metadata.name);
  groups.note(pod("one", "a"), "ADDED");
  groups.note(pod("two", "a"), "ADDED");
  groups.note(pod("none", ""), "ADDED");
  expect([names("a"), names("b"), names("")]).toEqual([["one", "two"], [], []]);
  expect(groups.size()).toBe(2);

  groups.note(pod("one", "b"), "MODIFIED");
  expect([names("a"), names("b")]).toEqual([["two"], ["one"]]);
  const newer = pod("two", "a");
  groups.note(newer, "MODIFIED");
  expect(groups.of("a")).toEqual([newer]);

  groups.note(pod("two", "a"), "DELETED");
  groups.note(pod("one", "b"), "DELETED");
  groups.note(pod("one", "b"), "DELETED");
  expect([names("a"), names("b")]).toEqual([[], []]);
  expect(groups.size()).toBe(0);
});
