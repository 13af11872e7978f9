import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Secret } from "../../platform/kube/objects.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Permission } from "../model/permission.ts";
import {
  apiKeySelector,
  digestApiKey,
  grantedTo,
  isUsable,
  readApiKey,
  readDigest,
  type StoredApiKey,
} from "./api-key-secret.ts";

/** The identity and rights of an API key. A project key can only use its project. */
export type Principal = {
  keyId: string;
  scope: { kind: "organization" } | { kind: "project"; projectId: string };
  permissions: ReadonlySet<Permission>;
};

/**
 * The API keys of the organization, kept up to date by a watch of Secrets that contain the SHA-256 of each key, never
 * the key.
 */
export type ApiKeys = {
  /** The principal of a key; undefined when the key is unknown, deleted or expired. */
  authenticate(key: string): Principal | undefined;
  /** The principal of the key with this id; undefined as `authenticate`. */
  principal(id: string): Principal | undefined;
  /** By id; also deleted and expired keys. */
  find(id: string): StoredApiKey | undefined;
  /** All keys, also deleted and expired ones, in no order. */
  list(): StoredApiKey[];
  /** Puts a Secret that was just written into the copy. */
  put(secret: Secret): void;
};

type ApiKeysOptions = {
  kube: Kube;
  /** The system namespace. */
  namespace: string;
  log: Logger;
  /** ms since the epoch. */
  now?: () => number;
};

/** Keys have 46 characters; a text longer than this is refused without hashing. */
const maxKeyLength = 256;

type Index = { byId: Map<string, StoredApiKey>; byDigest: Map<string, StoredApiKey> };

const indexKeys = (items: Secret[]): Index => {
  const index: Index = { byId: new Map(), byDigest: new Map() };
  for (const item of items) {
    const record = readApiKey(item);
    const digest = readDigest(item);
    if (record) index.byId.set(record.id, record);
    if (record && digest) index.byDigest.set(digest, record);
  }
  return index;
};

const principalOf = (record: StoredApiKey): Principal => ({
  keyId: record.id,
  scope: record.projectId === undefined ? { kind: "organization" } : { kind: "project", projectId: record.projectId },
  permissions: grantedTo(record),
});

/** Starts the watch. It knows no key before `synced` has resolved; that rejects if `signal` is aborted first. */
export const startApiKeys = ({
  kube,
  namespace,
  log,
  now = Date.now,
}: ApiKeysOptions): ApiKeys & { synced(signal?: AbortSignal): Promise<void>; stop(): Promise<void> } => {
  let index: Index | undefined;
  const reflector = startReflector({
    kube,
    type: secrets,
    namespace,
    labelSelector: apiKeySelector,
    log,
    onChange: () => {
      index = undefined;
    },
  });
  const current = (): Index => {
    index ??= indexKeys(reflector.list());
    return index;
  };
  const usable = (record: StoredApiKey | undefined): Principal | undefined =>
    record && isUsable(record, now()) ? principalOf(record) : undefined;
  return {
    authenticate(key) {
      if (key.length > maxKeyLength) return undefined;
      // The time of the look-up depends on the digest, which a caller can't steer towards the digest of a key. So it
      // need not take constant time.
      return usable(current().byDigest.get(digestApiKey(key)));
    },
    principal: (id) => usable(current().byId.get(id)),
    find: (id) => current().byId.get(id),
    list: () => [...current().byId.values()],
    put: reflector.put,
    synced: reflector.synced,
    stop: reflector.stop,
  };
};
