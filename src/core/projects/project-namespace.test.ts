import { describe, expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { projectSessionLimit } from "./change-projects.ts";
import { readProject } from "./project-namespace.ts";
import { indexProjects } from "./projects.ts";

type Parts = { labels?: Record<string, string>; annotations?: Record<string, string>; created?: string };

const namespace = (name: string, { labels = {}, annotations = {}, created = "2026-01-01T00:00:00Z" }: Parts = {}) =>
  ({ metadata: storedMeta(name, { labels, annotations, creationTimestamp: created }) }) satisfies Namespace;

const label = (id: string, status?: string): Record<string, string> => ({
  "browserpool.dev/project": id,
  ...(status && { "browserpool.dev/project-status": status }),
});

describe("the project of a namespace", () => {
  test("a namespace that somebody labelled is an active project named by its id", () => {
    expect(readProject(namespace("team-a", { labels: label("alpha") }))).toEqual({
      id: "alpha",
      name: "alpha",
      namespace: "team-a",
      status: "active",
      createdAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-01T00:00:00Z",
      maxConcurrentSessions: undefined,
      maxConcurrentInvocations: undefined,
    });
  });

  test("annotations give the name, the time of the last change and the caps", () => {
    const annotations = {
      "browserpool.dev/project-name": "Team Ä",
      "browserpool.dev/project-updated-at": "2026-02-01T00:00:00.000Z",
      "browserpool.dev/max-concurrent-sessions": "7",
      "browserpool.dev/max-concurrent-invocations": "9",
    };
    expect(readProject(namespace("n", { labels: label("alpha"), annotations }))).toMatchObject({
      name: "Team Ä",
      updatedAt: "2026-02-01T00:00:00.000Z",
      maxConcurrentSessions: 7,
      maxConcurrentInvocations: 9,
    });
  });

  test.each(["ten", "-1", "0", "1.5", ""])("a cap of %j is none", (text) => {
    const annotations = { "browserpool.dev/max-concurrent-sessions": text };
    expect(readProject(namespace("n", { labels: label("a"), annotations }))?.maxConcurrentSessions).toBeUndefined();
  });

  test("deleted projects and namespaces on their way out are none", () => {
    const going = namespace("n", { labels: label("a") });
    expect(readProject(namespace("n", { labels: label("a", "deleted") }))).toBeUndefined();
    expect(readProject({ metadata: { ...going.metadata, deletionTimestamp: "2026-01-02T00:00:00Z" } })).toBeUndefined();
  });

  test.each(["", "Alpha", "a_b", "-a", "a.b", "a".repeat(64)])("the label value %j is no id", (id) => {
    expect(readProject(namespace("n", { labels: label(id) }))).toBeUndefined();
  });
});

describe("the index of projects", () => {
  test("of two namespaces that claim one id the older one is the project", () => {
    const index = indexProjects([
      namespace("b", { labels: label("x"), created: "2026-01-02T00:00:00Z" }),
      namespace("c", { labels: label("x"), created: "2026-01-01T00:00:00Z" }),
    ]);
    expect(index.all.map((project) => project.namespace)).toEqual(["c"]);
    expect(index.byId.get("x")?.namespace).toBe("c");
  });

  test("a name leads to the oldest project that has it", () => {
    const annotations = { "browserpool.dev/project-name": "same" };
    const index = indexProjects([
      namespace("b", { labels: label("b"), annotations, created: "2026-01-02T00:00:00Z" }),
      namespace("c", { labels: label("c"), annotations, created: "2026-01-01T00:00:00Z" }),
    ]);
    expect(index.all.map(({ id }) => id)).toEqual(["c", "b"]);
    expect(index.byName.get("same")?.id).toBe("c");
  });
});

// PROJECT-8
test("a project's own cap goes before the organization's default, whichever is larger", () => {
  expect(projectSessionLimit({ maxConcurrentSessions: 9 }, 5)).toBe(9);
  expect(projectSessionLimit({ maxConcurrentSessions: undefined }, 5)).toBe(5);
  expect(projectSessionLimit({ maxConcurrentSessions: undefined }, undefined)).toBeUndefined();
});
