import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { signRecordingToken } from "../../core/protocol/session-token.ts";
import { recordingByToken } from "./open-recording.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const claims = { sessionId: "s", poolUid: "p", recordingId: "r" };
const token = signRecordingToken(privateKey, claims);

/** Opens a recording where there are those of session `s` that have these ids, of a project that there is or not. */
const open = (asked: Partial<typeof claims & { token: string }>, { ids = ["r", "other"], project = true } = {}) => {
  const records = {
    get: async (_pool: string, session: string, id: string) =>
      session === "s" && ids.includes(id) ? { id, session, projectId: "o" } : undefined,
  };
  const deps = {
    verifyKey: publicKey,
    recordings: { records },
    projects: { find: () => (project ? { id: "o" } : undefined) },
  };
  return recordingByToken({ sessionId: "s", recordingId: "r", token, ...asked }, deps as never);
};

// REPLAY-9
test("a link opens the recording that it was made for, and no other one of its session", async () => {
  expect(await open({})).toMatchObject({ id: "r" });
  for (const asked of [{ recordingId: "other" }, { sessionId: "t" }, { token: "" }, { token: `${token}x` }])
    await expect(open(asked)).rejects.toMatchObject({ code: "unauthorized" });
});

test("a recording that is kept no longer, or whose project is gone, is not found", async () => {
  await expect(open({}, { ids: [] })).rejects.toMatchObject({ code: "not_found" });
  await expect(open({}, { project: false })).rejects.toMatchObject({ code: "not_found" });
});
