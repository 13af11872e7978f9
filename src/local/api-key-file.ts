import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newApiKey } from "../core/api-keys/api-key-secret.ts";
import { ensureOrganizationKey } from "../core/bootstrap/ensure-organization-key.ts";
import type { Kube } from "../platform/kube/client.ts";

const readKey = async (path: string): Promise<string | undefined> => {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};

type LocalKeyOptions = { dataDir: string; kube: Kube; namespace: string };

/**
 * The organization's key of this data directory, in a file that only its owner can read. It is made at the first start, and again
 * when it has expired or was deleted through the API.
 */
export const localApiKey = async ({ dataDir, kube, namespace }: LocalKeyOptions): Promise<string> => {
  const path = join(dataDir, "api-key");
  const known = await readKey(path);
  if (known && (await ensureOrganizationKey({ kube, namespace, key: known, name: "local" }))) return known;
  const key = newApiKey();
  await writeFile(path, `${key}\n`, { mode: 0o600 });
  await ensureOrganizationKey({ kube, namespace, key, name: "local" });
  return key;
};
