import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { downloadProfile } from "./download-profile.ts";
import { type Profile, profileBlobKey } from "./profile.ts";

const profileOf = (version: number): Profile =>
  ({
    metadata: { name: "p", namespace: "a", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { name: "mine" },
    status: { version },
  }) as unknown as Profile;

/** A download while a save goes on: the API server tells these versions in turn, and the store has only this one. */
const download = async (told: number[], stored: number) => {
  const kube = {
    get: async () => {
      const version = told.length > 1 ? told.shift() : told[0];
      return version === undefined ? undefined : profileOf(version);
    },
    list: async () => ({ items: [] }),
  };
  const blobs = {
    get: async (key: string) =>
      key === profileBlobKey(profileOf(stored))
        ? {
            bytes: 3,
            body: (async function* () {
              yield Buffer.from(`v${stored}`);
            })(),
          }
        : undefined,
  };
  const asked = { idOrName: "p", format: "tar.zst", project: { namespace: "a" } };
  const { body } = await downloadProfile(asked as never, { kube, blobs } as never, new AbortController().signal);
  return String(await buffer(body));
};

test("a download that meets a save gets the version that is there by then", async () => {
  expect(await download([1], 1)).toBe("v1");
  expect(await download([1, 2], 2)).toBe("v2");
});

test("nothing saved, or nothing stored any more, is not found", async () => {
  await expect(download([0], 0)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("nothing is saved"),
  });
  await expect(download([1], 7)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("no longer in the store"),
  });
});
