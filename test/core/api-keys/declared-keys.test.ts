/** API keys that Git declares, as in the example. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestApiKey, newApiKey } from "../../../src/core/api-keys/api-key-secret.ts";
import { deleteApiKey } from "../../../src/core/api-keys/change-api-key.ts";
import type { Secret } from "../../../src/platform/kube/objects.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { exampleObjects } from "../../support/gitops-health.ts";
import { type OrgParts, startOrg } from "../projects/org-parts.ts";

let org: OrgParts;
beforeAll(async () => {
  org = await startOrg();
});
afterAll(() => org[Symbol.asyncDispose]());

/** The example's Secret for this key, under another id. */
const declared = (id: string, key: string): Secret => {
  const [example] = exampleObjects("api-key.yaml") as (Secret & { stringData: object })[];
  if (!example) throw new Error("no example");
  const metadata = { ...example.metadata, name: `api-key-${id}`, namespace: org.config.systemNamespace };
  return { ...example, metadata, stringData: { sha256: digestApiKey(key) } } as Secret;
};

// GITOPS-6
test("a key whose digest Git declares works with its permissions, and no longer when it goes", async () => {
  const key = newApiKey();
  const { metadata } = await org.kube.create(secrets, declared("from-git", key));
  const known = await eventually("the key is known", () => org.apiKeys.authenticate(key));
  expect(known).toEqual({
    keyId: "from-git",
    scope: { kind: "project", projectId: "shop" },
    permissions: new Set(["pools:read", "browsers:use"]),
  });
  await org.kube.delete(secrets, metadata);
  await eventually("the key is unknown", () => org.apiKeys.authenticate(key) === undefined);
});

// GITOPS-6
test("a key that was deleted over HTTP stays deleted, whatever Git declares again", async () => {
  const key = newApiKey();
  const secret = declared("revoked", key);
  await org.kube.create(secrets, secret);
  await eventually("the key is known", () => org.apiKeys.authenticate(key));
  await deleteApiKey("revoked", "another", org);
  const annotations = { ...secret.metadata.annotations, "browserpool.dev/name": "again" };
  await org.kube.patch(secrets, secret.metadata, { ...secret, metadata: { annotations } });
  await eventually("the digest is back", () => org.apiKeys.find("revoked")?.name === "again");
  expect((await org.kube.get(secrets, secret.metadata))?.data?.sha256).toBeDefined();
  expect(org.apiKeys.authenticate(key)).toBeUndefined();
});
