/** The compiled code that images and local mode make for their agents. */
import { chmod, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { compileAgent } from "../../../src/local/compile-cache.ts";
import { createTestAgents } from "../../support/agent-process.ts";

const agents = createTestAgents();
const folder = await mkdtemp(join(tmpdir(), "compiled-"));
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../../src/main.ts");
const user = process.getuid?.() === 0 ? 20_001 : undefined;

/** As it is shown to a pod: Node looks in a folder that ends with its user's number. */
const giveTo = async (owner: number): Promise<void> => {
  const [made = ""] = await readdir(folder);
  await chmod(folder, 0o755);
  await rename(join(folder, made), join(folder, made.replace(/\d+$/, String(owner))));
};

// Without one file, each agent loads Node's compiler of TypeScript, and keeps it.
test("has every file that an agent loads, readable for the user of a pod", async () => {
  await compileAgent([process.execPath, main], folder, AbortSignal.timeout(60_000));
  if (user !== undefined) await giveTo(user);
  const agent = await agents.start(
    { headless: true },
    {
      ...(user !== undefined && { user }),
      env: { NODE_COMPILE_CACHE: folder, NODE_DEBUG_NATIVE: "COMPILE_CACHE" },
      setup: {},
    },
  );
  expect((await agent.bind("one", 1)).status).toBe(200);
  const page = await (await agent.connect("one")).newPage();
  await page.setContent("<title>Hello</title>");
  expect((await agent.release("one", 1, "reset")).status).toBe(200);
  await agent.call("GET", "/reset");

  const compiled = agent
    .log()
    .split("\n")
    .filter((line) => /reading cache from \S+ for StrippedTypeScript \S+\/src\//.test(line));
  expect(compiled.length).toBeGreaterThan(100);
  expect(compiled.filter((line) => !line.includes("... success"))).toEqual([]);
});
