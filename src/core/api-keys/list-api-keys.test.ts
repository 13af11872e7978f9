import { describe, expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import { readProject } from "../projects/project-namespace.ts";
import type { StoredApiKey } from "./api-key-secret.ts";
import { type ApiKeyQuery, getApiKey, listApiKeys } from "./list-api-keys.ts";

const key = (id: string, more: Partial<StoredApiKey> = {}): StoredApiKey => ({
  id,
  name: id,
  maskedKey: `bp_${id}…wxyz`,
  projectId: undefined,
  createdAt: "2026-01-01T00:00:00.000Z",
  createdBy: "system",
  expiresAt: undefined,
  deletedAt: undefined,
  lifetimeDays: undefined,
  permissions: undefined,
  ...more,
});

const keys = [
  key("k1", { name: "Root", createdAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-06-01T00:00:00.000Z" }),
  key("k2", { name: "ci", createdAt: "2026-01-03T00:00:00.000Z", createdBy: "k1", projectId: "alpha" }),
  key("k3", { name: "Deploy", createdAt: "2026-01-02T00:00:00.000Z", deletedAt: "2026-01-04T00:00:00.000Z" }),
  key("k4", { name: "deploy", createdAt: "2026-01-02T00:00:00.000Z", expiresAt: "2026-05-01T00:00:00.000Z" }),
];

const alpha = readProject({
  metadata: storedMeta("n", {
    labels: { "browserpool.dev/project": "alpha" },
    annotations: { "browserpool.dev/project-name": "Team Blue" },
  }),
});

const deps = {
  apiKeys: {
    authenticate: () => undefined,
    principal: () => undefined,
    find: (id: string) => keys.find((one) => one.id === id),
    list: () => keys,
    put: () => undefined,
  },
  projects: {
    find: (id: string) => (id === "alpha" ? alpha : undefined),
    findLeaving: () => undefined,
    closed: () => undefined,
    list: () => [],
    put: () => undefined,
    listen: () => undefined,
  },
};

const ids = (query: Partial<ApiKeyQuery>): string[] =>
  listApiKeys({ status: "active", sortBy: "created_at", direction: "asc", ...query }, deps).map(({ id }) => id);

describe("the list of API keys", () => {
  test("shows by status", () => {
    expect(ids({ status: "active" })).toEqual(["k1", "k4", "k2"]);
    expect(ids({ status: "deleted" })).toEqual(["k3"]);
    expect(ids({ status: "all" })).toEqual(["k1", "k3", "k4", "k2"]);
  });

  // ORG-6
  test("is sorted by time, name or expiry, either way; what never expires counts as last", () => {
    expect(ids({ direction: "desc" })).toEqual(["k2", "k4", "k1"]);
    expect(ids({ sortBy: "name" })).toEqual(["k2", "k4", "k1"]);
    expect(ids({ sortBy: "expires_at" })).toEqual(["k4", "k1", "k2"]);
    expect(ids({ sortBy: "expires_at", direction: "desc" })).toEqual(["k2", "k1", "k4"]);
  });

  test("is narrowed by the exact name", () => {
    expect(ids({ name: "deploy", status: "all" })).toEqual(["k4"]);
    expect(ids({ name: "dep" })).toEqual([]);
  });

  test.each([
    ["part of the name in any case", "EPLO", ["k4"]],
    ["the creator's name", "root", ["k1", "k2"]],
    ["the project's name", "blue", ["k2"]],
    ["the start of the id", "k", ["k1", "k4", "k2"]],
    ["the start of the masked key", "bp_k4", ["k4"]],
    ["nothing in the middle of a masked key", "wxyz", []],
  ])("is searched by %s", (_what, query, expected) => {
    expect(ids({ query })).toEqual(expected);
  });
});

describe("one API key", () => {
  test("carries the names of its creator and its project", () => {
    expect(getApiKey("k2", false, deps)).toMatchObject({ creatorName: "Root", projectName: "Team Blue" });
  });

  test("is found after its deletion only on request", () => {
    expect(() => getApiKey("k3", false, deps)).toThrow("no API key k3");
    expect(getApiKey("k3", true, deps).id).toBe("k3");
  });
});
