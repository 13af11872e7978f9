import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Kube } from "../../platform/kube/client.ts";
import { browserPoolKind } from "../model/pools/browser-pool.ts";
import { maxChromePolicyBytes } from "../model/settings/policies/chrome-policy.ts";
import { ChromePolicyRef, policyPartKey } from "../model/settings/pool-policy.ts";
import { deletePolicyParts, packPolicy, unpackPolicy } from "./policy-parts.ts";

const pool = { name: "pool", namespace: "project" };

/** A policy of exactly so many bytes of JSON, of what gzip shrinks least among valid text. */
const policyOf = (bytes: number): { Text: string } => {
  const room = bytes - JSON.stringify({ Text: "" }).length;
  return {
    Text: randomBytes(Math.ceil(room * 0.75))
      .toString("base64")
      .slice(0, room),
  };
};

describe("a large policy", () => {
  test.each([1, 300 * 1024, maxChromePolicyBytes - 20])("is the same again, at %d bytes and more", async (bytes) => {
    const policy = policyOf(bytes + 20);
    const { ref, parts } = await packPolicy(policy, pool, "w");
    expect(await unpackPolicy(ref, parts)).toEqual({ policy, bytes: Buffer.byteLength(JSON.stringify(policy)) });
  });

  test("is cut into ConfigMaps that the API server takes, as many as a pool may refer to", async () => {
    const { ref, parts } = await packPolicy(policyOf(maxChromePolicyBytes), pool, "w");
    expect(ChromePolicyRef.parse(ref)).toEqual(ref);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts)
      expect(Buffer.from(part.binaryData?.[policyPartKey] ?? "", "base64").length).toBeLessThan(1024 * 1024);
  });

  test("has names and a label that fit, however long its pool's name is", async () => {
    for (const name of ["a", "a".repeat(63), "a".repeat(64), "a".repeat(253)]) {
      const { parts } = await packPolicy(policyOf(100), { ...pool, name }, "w".repeat(32));
      const [{ metadata } = { metadata: { ...pool, name: "", labels: {} } }] = parts;
      expect(metadata.name.length).toBeLessThanOrEqual(253);
      for (const value of Object.values(metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
      expect(metadata).toMatchObject({ namespace: "project" });
    }
  });

  test("never shares a part with another write of the same policy", async () => {
    const names = async (write: string) => (await packPolicy(policyOf(100), pool, write)).ref.configMaps;
    expect(await names("a")).not.toEqual(await names("b"));
  });
});

describe("parts that don't fit", () => {
  test("are told: one is missing, or without data", async () => {
    const { ref, parts } = await packPolicy(policyOf(100), pool, "w");
    await expect(unpackPolicy(ref, [undefined])).rejects.toThrow("pool.policy-w-0 has no part of the policy");
    await expect(unpackPolicy(ref, [{ ...parts[0], binaryData: {} } as never])).rejects.toThrow("no part");
  });

  test("are told: they hold another policy", async () => {
    const { ref } = await packPolicy(policyOf(100), pool, "w");
    const { parts } = await packPolicy(policyOf(100), pool, "w");
    await expect(unpackPolicy(ref, parts)).rejects.toThrow("SHA-256");
  });

  test("are not inflated beyond what a policy may have", async () => {
    const { ref, parts } = await packPolicy(policyOf(100), pool, "w");
    const bomb = gzipSync(Buffer.alloc(maxChromePolicyBytes + 1)).toString("base64");
    const part = { ...parts[0], binaryData: { [policyPartKey]: bomb } } as never;
    await expect(unpackPolicy(ref, [part])).rejects.toThrow("Cannot create a Buffer larger than");
  });
});

const ofUid = (uid: string) => ({ metadata: { name: "shop", namespace: "a", uid } }) as never;

/** What is deleted for the object with this uid, where the pool of its name has another one, or is gone. */
const deletedFor = async (uid: string, present: string | undefined): Promise<string[]> => {
  const deleted: string[] = [];
  const kube = {
    get: async (kind: unknown) => (kind === browserPoolKind && present !== undefined ? ofUid(present) : undefined),
    list: async () => ({ items: [{ metadata: { name: "shop.policy-1", namespace: "a", uid: "part" } }] }),
    delete: async (_kind: unknown, { name }: { name: string }) => void deleted.push(name),
  };
  await deletePolicyParts(ofUid(uid), kube as unknown as Kube);
  return deleted;
};

test("a pool takes its policies along, and nobody those of a pool that has the same name", async () => {
  expect(await deletedFor("pool", "pool")).toEqual(["shop.policy-1"]);
  expect(await deletedFor("an on-demand browser", "pool")).toEqual([]);
  expect(await deletedFor("pool", undefined)).toEqual([]);
});
