import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Termination } from "../core/protocol/agent-api.ts";
import { createLogger } from "../platform/base/log.ts";
import { writeTermination } from "./agent.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "termination-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const written = async (message: string): Promise<Termination> => {
  const file = join(folder, "log");
  await writeTermination(file, { reason: "start_failed", message } as Termination, createLogger("silent", "test"));
  return Termination.parse(JSON.parse(await readFile(file, "utf8")));
};

test("a reason is what the operator reads, whatever its length: of a long one it has the begin and the end", async () => {
  expect((await written("no display")).message).toBe("no display");
  for (const length of [499, 500, 501, 10_000]) {
    const { message } = await written(`begin${"x".repeat(length - 8)}end`);
    expect(message.length).toBe(Math.min(length, 500));
    expect(message).toMatch(/^begin.*end$/);
  }
});

test("a file that can't be written is no failure of the agent's end", async () => {
  const file = join(folder, "there/is/none");
  await writeTermination(
    file,
    { reason: "stopped", message: "" } as unknown as Termination,
    createLogger("silent", "test"),
  );
});
