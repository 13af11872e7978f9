/**
 * An API key is a Secret in the system namespace, named `api-key-<id>`, with the type and the label below. It contains
 * the SHA-256 of the key, never the key itself. The Secret of a deleted key stays without the hash, for audits.
 */
import { hash, randomBytes } from "node:crypto";
import type { NewObject, Secret } from "../../platform/kube/objects.ts";
import { isPermission, type Permission, permissionsOf } from "../model/permission.ts";

/** The data of a key without its secret, from the Secret's annotations. Times are RFC 3339. */
export type StoredApiKey = {
  id: string;
  name: string;
  maskedKey: string;
  /** Undefined: a key of the organization. */
  projectId: string | undefined;
  createdAt: string;
  /** Id of the key that made this one, or `system`. */
  createdBy: string;
  expiresAt: string | undefined;
  deletedAt: string | undefined;
  /** The lifetime in days that the key was made with; undefined: for ever. */
  lifetimeDays: number | undefined;
  /** The permissions that the key was given; undefined: all of its level. */
  permissions: readonly Permission[] | undefined;
};

/** Label selector of the Secrets that hold API keys. */
export const apiKeySelector = "browserpool.dev/kind=api-key";

const label = { "browserpool.dev/kind": "api-key" };
const secretType = "browserpool.dev/api-key";
const namePrefix = "api-key-";

/** The annotation of the Secret that holds each field of a key. */
export const apiKeyAnnotations = {
  name: "browserpool.dev/name",
  maskedKey: "browserpool.dev/masked-key",
  projectId: "browserpool.dev/project-id",
  createdAt: "browserpool.dev/created-at",
  createdBy: "browserpool.dev/created-by",
  expiresAt: "browserpool.dev/expires-at",
  deletedAt: "browserpool.dev/deleted-at",
  lifetimeDays: "browserpool.dev/lifetime-days",
  permissions: "browserpool.dev/permissions",
} as const satisfies Record<Exclude<keyof StoredApiKey, "id">, string>;

/** The name of the Secret of the key with this id. */
export const apiKeySecretName = (id: string): string => `${namePrefix}${id}`;

/** `bp_` and 32 random bytes in base64url: 46 characters. */
export const newApiKey = (): string => `bp_${randomBytes(32).toString("base64url")}`;

/** Shows enough of a key to tell keys apart, and hides the other 35 characters. */
export const maskApiKey = (key: string): string => `${key.slice(0, 7)}…${key.slice(-4)}`;

/** SHA-256 in hex. A fast hash is safe here: the input is 256 random bits, which no dictionary contains. */
export const digestApiKey = (key: string): string => hash("sha256", key);

/** The Secret of a new key. */
export const apiKeySecret = (record: StoredApiKey, key: string, namespace: string): NewObject<Secret> => {
  const annotations: Record<string, string> = {};
  for (const [field, annotation] of Object.entries(apiKeyAnnotations)) {
    // `entries` forgets the names of the keys.
    const value = record[field as keyof typeof apiKeyAnnotations];
    if (value !== undefined) annotations[annotation] = String(value);
  }
  return {
    metadata: { name: apiKeySecretName(record.id), namespace, labels: label, annotations },
    type: secretType,
    data: { sha256: Buffer.from(digestApiKey(key)).toString("base64") },
  };
};

/** Unknown words give nothing, so an annotation that is damaged or of a later version never gives more than it says. */
const readPermissions = (text: string | undefined): readonly Permission[] | undefined =>
  text?.split(",").filter(isPermission);

/** Reads the record from a Secret; undefined when its name or type is not that of an API key. */
export const readApiKey = ({ metadata, type }: NewObject<Secret>): StoredApiKey | undefined => {
  if (type !== secretType || !metadata.name.startsWith(namePrefix)) return undefined;
  const { annotations = {}, creationTimestamp = "" } = metadata;
  const id = metadata.name.slice(namePrefix.length);
  const lifetimeDays = Number(annotations[apiKeyAnnotations.lifetimeDays]);
  return {
    id,
    name: annotations[apiKeyAnnotations.name] ?? id,
    maskedKey: annotations[apiKeyAnnotations.maskedKey] ?? "",
    projectId: annotations[apiKeyAnnotations.projectId],
    createdAt: annotations[apiKeyAnnotations.createdAt] ?? creationTimestamp,
    createdBy: annotations[apiKeyAnnotations.createdBy] ?? "system",
    expiresAt: annotations[apiKeyAnnotations.expiresAt],
    deletedAt: annotations[apiKeyAnnotations.deletedAt],
    lifetimeDays: lifetimeDays > 0 ? lifetimeDays : undefined,
    permissions: readPermissions(annotations[apiKeyAnnotations.permissions]),
  };
};

/** What a key may do. */
export const grantedTo = ({
  projectId,
  permissions: listed,
}: Pick<StoredApiKey, "projectId" | "permissions">): ReadonlySet<Permission> => permissionsOf({ projectId, listed });

/** Reads the SHA-256 from a Secret, in hex; undefined when it is missing or malformed. */
export const readDigest = ({ data }: Pick<Secret, "data">): string | undefined => {
  const digest = Buffer.from(data?.sha256 ?? "", "base64")
    .toString("latin1")
    .trim()
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(digest) ? digest : undefined;
};

/** False for a key that was deleted, has expired, or has a malformed time of expiry. `nowMs`: since the epoch. */
export const isUsable = (
  { deletedAt, expiresAt }: Pick<StoredApiKey, "deletedAt" | "expiresAt">,
  nowMs: number,
): boolean => deletedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > nowMs);
