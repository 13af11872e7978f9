import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiKeyAnnotations, apiKeySecretName } from "../../../src/core/api-keys/api-key-secret.ts";
import { startApiKeys } from "../../../src/core/api-keys/api-keys.ts";
import { deleteApiKey } from "../../../src/core/api-keys/change-api-key.ts";
import { leaveInitialKey } from "../../../src/core/bootstrap/initial-key.ts";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { readConfig } from "../../../src/core/config/config.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers } from "../../support/control-plane.ts";

/** What replicas have logged. */
const lines: string[] = [];
const log = createLogger("trace", "test", "/dev/null", (line) => lines.push(line));

let kube: Kube;
let namespace: string;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
beforeEach(async () => {
  lines.length = 0;
  namespace = `initial-${newId()}`;
  await ensureNamespace(kube, namespace);
});
afterAll(() => kube.close());

const secretName = "first-key";

/** What a replica does when it starts. */
const start = async (options: { secretName: string | undefined } = { secretName }): Promise<void> =>
  leaveInitialKey({ ...options, kube, namespace, apiKeys: await knownKeys(), log });

const leftKey = async (): Promise<string | undefined> => {
  const secret = await kube.get(secrets, { namespace, name: secretName });
  return secret && Buffer.from(secret.data?.["api-key"] ?? "", "base64").toString();
};

/** The keys that a newly started replica accepts. */
const knownKeys = async () => {
  const apiKeys = startApiKeys({ kube, namespace, log });
  await apiKeys.synced();
  await apiKeys.stop();
  return apiKeys;
};

describe("the first key", () => {
  test("is one for all replicas that start together, and is accepted", async () => {
    await Promise.all([1, 2, 3, 4].map(() => start()));
    const key = (await leftKey()) ?? "";
    const keys = await knownKeys();
    expect(keys.list()).toMatchObject([{ name: "initial", projectId: undefined, createdBy: "system" }]);
    expect(keys.authenticate(key)).toMatchObject({ scope: { kind: "organization" } });
  });

  test("is told by the name of its Secret alone", async () => {
    await start();
    expect(lines.join("")).toContain(`${namespace}/${secretName}`);
    expect(lines.join("")).not.toContain((await leftKey()) ?? "");
  });

  test("is not made again after it was fetched and its Secret was deleted", async () => {
    await start();
    await kube.delete(secrets, { namespace, name: secretName });
    await start();
    expect(await leftKey()).toBeUndefined();
    expect((await knownKeys()).list()).toHaveLength(1);
  });

  test("is the key in the Secret that a replica left before it died", async () => {
    const data = { "api-key": Buffer.from("bp_left-by-the-dead").toString("base64") };
    await kube.create(secrets, { metadata: { namespace, name: secretName }, data });
    await start();
    expect((await knownKeys()).authenticate("bp_left-by-the-dead")).toBeDefined();
  });

  test("is followed by another one when the last usable key was deleted", async () => {
    await start();
    const before = (await leftKey()) ?? "";
    const apiKeys = await knownKeys();
    const [{ id } = { id: "" }] = apiKeys.list();
    const config = readConfig({ BROWSERPOOL_SYSTEM_NAMESPACE: namespace });
    await deleteApiKey(id, "another", { kube, config, apiKeys });
    await Promise.all([start(), start()]);
    const after = (await leftKey()) ?? "";
    const keys = await knownKeys();
    expect(after).not.toBe(before);
    expect(keys.authenticate(after)).toBeDefined();
    expect(keys.authenticate(before)).toBeUndefined();
    expect(keys.list()).toHaveLength(2);
  });

  test("is followed by another one when it lost the permission to manage the organization", async () => {
    await start();
    const before = (await leftKey()) ?? "";
    const [{ id } = { id: "" }] = (await knownKeys()).list();
    const annotations = { [apiKeyAnnotations.permissions]: "pools:read" };
    await kube.patch(secrets, { namespace, name: apiKeySecretName(id) }, { metadata: { annotations } });
    await Promise.all([start(), start()]);
    const after = (await leftKey()) ?? "";
    const keys = await knownKeys();
    expect(after).not.toBe(before);
    expect(keys.authenticate(after)?.permissions.has("organization")).toBe(true);
    expect(keys.list()).toHaveLength(2);
  });

  test("is made only when the installation asks for it", async () => {
    await start({ secretName: undefined });
    expect((await knownKeys()).list()).toEqual([]);
  });
});
