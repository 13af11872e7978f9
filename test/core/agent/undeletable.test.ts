import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTestAgents } from "../../support/agent-process.ts";

/** Folders in each other, whose path alone is nearly as long as a path may be. */
const tall = (folder: string): string => join(folder, ...Array(12).fill("d".repeat(250)));

// LEASE-28
test("a browser whose holder has left what can't be deleted is offered to nobody: its agent ends, and says why", async () => {
  await using agents = createTestAgents();
  const root = await mkdtemp(join(tmpdir(), "undeletable-"));
  const [dir, sharedMemory] = [join(root, "pod"), join(root, "shm")];
  for (const folder of [dir, sharedMemory]) await mkdir(folder);
  const agent = await agents.start(
    {},
    { env: { BROWSERPOOL_AGENT_DATA_DIR: dir, BROWSERPOOL_AGENT_SCRATCH_DIRS: `${dir}:${sharedMemory}` } },
  );
  await agent.bind("s", 1);
  await (await agent.connect("s")).disconnect();
  // Twice as deep as a path can name.
  await mkdir(tall(join(sharedMemory, "a")), { recursive: true });
  await mkdir(tall(join(sharedMemory, "b")), { recursive: true });
  await rename(join(sharedMemory, "b"), join(tall(join(sharedMemory, "a")), "b"));
  onTestFinished(async () => {
    const [former = ""] = (await readdir(sharedMemory)).filter((name) => name.startsWith(".former-"));
    await rename(join(tall(join(sharedMemory, former, "a")), "b"), join(root, "b"));
    await rm(root, { recursive: true });
  });
  expect((await agent.release("s", 1, "reset")).status).toBe(200);
  expect(await agent.exited).toBe(1);
  expect(agent.termination()).toMatchObject({
    reason: "reset_failed",
    message: expect.stringContaining("ENAMETOOLONG"),
  });
});
