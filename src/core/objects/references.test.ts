import { expect, test } from "vitest";
import type { ServiceDeps } from "../../cmd/service-deps.ts";
import { browserKind } from "../model/browsers/browser.ts";
import { browserPoolKind } from "../model/pools/browser-pool.ts";
import type { Project } from "../projects/projects.ts";
import { requireUnused } from "./references.ts";

const metadata = (name: string) => ({
  ...{ name, namespace: "project", uid: `uid-of-${name}`, creationTimestamp: "2030-01-01T00:00:00Z" },
});
const profile = { metadata: metadata("profile"), spec: { name: "work" } };
const owners = {
  pool: { metadata: metadata("pool"), spec: { size: 1 } },
  "on-demand browser": { metadata: metadata("browser"), spec: {} },
};

/** A session of the owner, whose holder has given its browser this profile. */
const leaseOf = (owner: { metadata: { uid: string } }, id: string): string => {
  const request = {
    timeout_seconds: 60,
    max_session_seconds: 3600,
    name: "checkout",
    pool: { id: "p", uid: owner.metadata.uid },
    project: "p",
  };
  return JSON.stringify({
    ...{ session: "session", browser: "b", pod: "pod", address: "a", config: "c", epoch: 1, seq: 1 },
    ...{ created_at: 1, ticket: "0", channel: "none" },
    request: JSON.stringify({ ...request, changed: { profile: { id } } }),
  });
};

const unused = (owner: keyof typeof owners, id: string): Promise<void> => {
  const kube = {
    list: async (kind: unknown) => {
      if (kind === browserPoolKind) return { items: owner === "pool" ? [owners.pool] : [] };
      return { items: kind === browserKind && owner !== "pool" ? [owners[owner]] : [] };
    },
  };
  const store = {
    leaseTexts: async (uid: string) => (uid === owners[owner].metadata.uid ? [leaseOf(owners[owner], id)] : []),
  };
  const deps = { kube, store } as unknown as ServiceDeps;
  return requireUnused(
    { kind: "Profile", object: profile as never, what: "profile" },
    { namespace: "project" } as Project,
    deps,
  );
};

// PROFILE-12
test.each(["pool", "on-demand browser"] as const)(
  "what a session of a %s was given while it runs is in use, and the error names that session",
  async (owner) => {
    await expect(unused(owner, "profile")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("the profile work is in use by the browser checkout"),
    });
    await unused(owner, "another");
  },
);
