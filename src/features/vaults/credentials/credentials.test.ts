import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { ServiceDeps } from "../../../cmd/service-deps.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { KubeObject } from "../../../platform/kube/objects.ts";
import { secrets } from "../../../platform/kube/resource-type.ts";
import { credentialKind } from "./credential.ts";
import { createCredential } from "./credentials.ts";

// CREDENTIAL-1
test("a credential whose values can't be stored is not made, and its caller gets the error", async () => {
  const remove = vi.fn(async (..._which: unknown[]) => undefined);
  const failure = new Error("the API server takes no Secret");
  const kube = {
    get: async () => undefined,
    list: async () => ({ items: [] }),
    create: async (type: unknown, object: KubeObject) => {
      if (type === secrets) throw failure;
      return { ...object, metadata: { ...object.metadata, uid: "uid" } };
    },
    delete: remove,
  } as unknown as Kube;
  const deps = {
    kube,
    locks: { hold: (_names: unknown, work: () => unknown) => work() },
    secretsKeys: [{ id: "first", bytes: randomBytes(32) }],
  } as unknown as ServiceDeps;
  const request = { name: "shop", domain: "shop.example", values: { user: "alice" } };
  await expect(createCredential(request, { namespace: "project" } as Project, deps)).rejects.toBe(failure);
  expect(remove).toHaveBeenCalledWith(credentialKind, expect.objectContaining({ uid: "uid" }));
});
