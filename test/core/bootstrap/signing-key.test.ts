import { sign, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSigningKey } from "../../../src/core/bootstrap/installation-keys.ts";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers } from "../../support/control-plane.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
afterAll(() => kube.close());

const newNamespace = async (): Promise<string> => {
  const { metadata } = await ensureNamespace(kube, `signing-${newId()}`);
  return metadata.name;
};

describe("the signing key", () => {
  test("is one for all replicas that start together, and for later ones", async () => {
    const namespace = await newNamespace();
    const together = await Promise.all([1, 2, 3, 4].map(() => loadSigningKey({ kube, namespace })));
    const keys = [...together, await loadSigningKey({ kube, namespace })];
    const [first] = keys;
    if (!first) throw new Error("no key");
    const message = Buffer.from("message");
    for (const { privateKey } of keys)
      expect(verify(null, message, first.publicKey, sign(null, message, privateKey))).toBe(true);
  });

  test("that is broken is reported without its text", async () => {
    const namespace = await newNamespace();
    const data = { "private-key.pem": Buffer.from("-----BEGIN PRIVATE KEY-----\nbroken-secret\n").toString("base64") };
    await kube.create(secrets, { metadata: { name: "signing-key", namespace }, data });
    const attempt = loadSigningKey({ kube, namespace });
    await expect(attempt).rejects.toThrow(`${namespace}/signing-key`);
    await expect(attempt).rejects.not.toThrow("broken-secret");
  });
});
