import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newApiKey } from "../core/api-keys/api-key-secret.ts";
import { ensureOrganizationKey } from "../core/bootstrap/initial-key.ts";
import type { Kube } from "../platform/kube/client.ts";

/** The content of `<data-dir>/local.json`, from which programs learn about a running local mode. */
export type Connection = { url: string; api_key: string; kubeconfig: string; redis_url: string; pid: number };

const pathIn = (dataDir: string): string => join(dataDir, "local.json");

/** The file with the header that authorizes a request, for `curl -H @file`; its owner alone can read it. */
export const headerFileIn = (dataDir: string): string => join(dataDir, "authorization");

/** Writes a file in one step, readable by its owner only. */
const writeSecret = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.new`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
};

/** Writes what programs need to use this local mode: the API key and the password of Redis are in it. */
export const writeConnection = async (dataDir: string, connection: Connection): Promise<void> => {
  await writeSecret(headerFileIn(dataDir), `Authorization: Bearer ${connection.api_key}\n`);
  await writeSecret(pathIn(dataDir), `${JSON.stringify(connection, null, 2)}\n`);
};

/** Removes the file: nothing runs here any more. */
export const removeConnection = (dataDir: string): Promise<void> => rm(pathIn(dataDir), { force: true });

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
 * The organization's key of this data directory, in a file that only its owner can read. It is made at the first start,
 * and again when it has expired or was deleted through the API.
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
