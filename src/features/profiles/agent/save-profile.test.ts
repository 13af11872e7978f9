import { createSecretKey, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../../../platform/base/log.ts";
import { createProfileSave } from "./save-profile.ts";

const log = createLogger("silent", "test");

let dataDir: string;
let profile: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "profile-save-"));
  profile = await mkdtemp(join(dataDir, "profile-"));
  await writeFile(join(profile, "state"), randomBytes(1024 * 1024));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const saveOf = () => {
  const config = { dataDir, agentKey: createSecretKey(randomBytes(32)) };
  const save = createProfileSave("the-profile", { config, log });
  const state = async (): Promise<unknown> => {
    const answer = await save.routes["/profile"]?.GET?.({} as IncomingMessage);
    return answer && "body" in answer ? answer.body : undefined;
  };
  return { run: save.run, state };
};

test("an agent that must end at once stops to pack, and says that the profile was not saved", async () => {
  const { run, state } = saveOf();
  const stop = new AbortController();
  const close = async (): Promise<string> => {
    // By then the archive is being made.
    void nextTurn().then(() => stop.abort(new Error("at once")));
    return profile;
  };
  await run({ close }, true, stop.signal);
  expect(await state()).toMatchObject({ is: "failed", why: "at once" });
});

test("an agent that must end while its browser closes does not wait for that", async () => {
  const { run, state } = saveOf();
  const stop = new AbortController();
  const running = run({ close: () => new Promise<string>(() => undefined) }, true, stop.signal);
  await nextTurn();
  stop.abort(new Error("at once"));
  await running;
  expect(await state()).toMatchObject({ is: "failed", why: "at once" });
});
