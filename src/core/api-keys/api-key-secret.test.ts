import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  apiKeySecret,
  isUsable,
  maskApiKey,
  newApiKey,
  readApiKey,
  readDigest,
  type StoredApiKey,
} from "./api-key-secret.ts";

const record: StoredApiKey = {
  id: "abc",
  name: "ci",
  maskedKey: "bp_abcd…wxyz",
  projectId: "alpha",
  createdAt: "2026-01-01T00:00:00.000Z",
  createdBy: "system",
  expiresAt: "2026-01-31T00:00:00.000Z",
  deletedAt: undefined,
  lifetimeDays: 30,
  permissions: ["pools:read", "browsers:use"],
};

describe("API keys", () => {
  test("are 32 random bytes behind a prefix", () => {
    expect(newApiKey()).toMatch(/^bp_[\w-]{43}$/);
    expect(newApiKey()).not.toBe(newApiKey());
  });

  // ORG-1
  test("are masked but for four characters at each end", () => {
    expect(maskApiKey(`bp_abcd${"x".repeat(35)}wxyz`)).toBe("bp_abcd…wxyz");
  });
});

describe("the Secret of an API key", () => {
  const key = newApiKey();
  const secret = apiKeySecret(record, key, "sys");

  // ORG-7
  test("holds the hash of the key and not the key", () => {
    expect(JSON.stringify(secret)).not.toContain(key);
    expect(readDigest(secret)).toBe(createHash("sha256").update(key).digest("hex"));
  });

  test("gives the record back", () => {
    expect(readApiKey(secret)).toEqual(record);
  });

  test("is no API key under another name or of another type", () => {
    expect(readApiKey({ ...secret, metadata: { ...secret.metadata, name: "other" } })).toBeUndefined();
    expect(readApiKey({ ...secret, type: "Opaque" })).toBeUndefined();
  });

  test.each([undefined, "", Buffer.from("abc").toString("base64")])("has no digest in %j", (sha256) => {
    expect(readDigest({ ...secret, data: sha256 === undefined ? {} : { sha256 } })).toBeUndefined();
  });
});

describe("a key is usable", () => {
  const expiresAt = "2026-01-31T00:00:00.000Z";
  const atMs = Date.parse(expiresAt);

  test("until the moment of its expiry", () => {
    expect(isUsable({ deletedAt: undefined, expiresAt }, atMs - 1)).toBe(true);
    expect(isUsable({ deletedAt: undefined, expiresAt }, atMs)).toBe(false);
    expect(isUsable({ deletedAt: undefined, expiresAt: undefined }, atMs)).toBe(true);
  });

  test("not after its deletion", () => {
    expect(isUsable({ deletedAt: "2026-01-01T00:00:00.000Z", expiresAt: undefined }, 0)).toBe(false);
  });

  test("not when its time of expiry can't be read", () => {
    expect(isUsable({ deletedAt: undefined, expiresAt: "soon" }, 0)).toBe(false);
  });
});
