import { expect, test } from "vitest";
import { openBlobStore } from "./open-blob-store.ts";

test("an installation without a store refuses what needs one, names the setting, and lets go of what it never had", async () => {
  const { store } = await openBlobStore(undefined);
  const call = { signal: AbortSignal.timeout(1000) };
  const refusal = { code: "not_supported_here", message: expect.stringContaining("BROWSERPOOL_BLOBS") };
  await expect(store.put("profiles/a/1", (async function* () {})(), call)).rejects.toMatchObject(refusal);
  await expect(store.get("profiles/a/1", call)).rejects.toMatchObject(refusal);
  await expect(store.check(call)).rejects.toMatchObject(refusal);
  await store.delete("profiles/a/1", call);
});
