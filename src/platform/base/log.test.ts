import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "./log.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "log-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const secret = "s3cret-of-somebody";

/** What stands in the log after this was logged. */
const logged = async (object: object): Promise<string> => {
  const file = join(folder, "log");
  await rm(file, { force: true });
  createLogger("info", "test", file).info(object, "happened");
  return readFile(file, "utf8");
};
const inside = (value: unknown, depth: number): unknown => (depth === 0 ? value : { part: inside(value, depth - 1) });

test.each(["authorization", "jwt", "token", "key", "password", "api_key", "apiKey", "cdp_ws_url", "url"])(
  "the value of %s is not logged: in the object, in an object or list inside, or in an error",
  async (name) => {
    const bad = { [name]: secret, pool: "shown" };
    for (const object of [bad, inside(bad, 1), inside(bad, 6), { list: [bad, { deep: [bad] }] }]) {
      const line = await logged(object as object);
      expect(line).toContain("shown");
      expect(line).toContain("[redacted]");
      expect(line).not.toContain(secret);
    }
    const err = Object.assign(new Error("it failed"), bad, { details: { more: bad } });
    const line = await logged({ err });
    expect(line).toContain("it failed");
    expect(line).not.toContain(secret);
  },
);

test("each line is an object with its level by name, its time, and the command that logs; only the file's owner reads it", async () => {
  const line = JSON.parse(await logged({ pool: "a/b" }));
  expect(line).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    service: "test",
    pool: "a/b",
    msg: "happened",
  });
  expect((await stat(join(folder, "log"))).mode & 0o777).toBe(0o600);
});

test("the runbook's filter leaves out what is no problem, and keeps what is", async () => {
  const runbook = await readFile("docs/runbook.md", "utf8");
  const [, pattern = ""] = /sed '\/([^/']+)\/d'/.exec(runbook) ?? [];
  const file = join(folder, "levels");
  const log = createLogger("info", "test", file);
  log.info("as usual");
  log.warn("a problem");
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  expect(lines.map((line) => pattern !== "" && line.includes(pattern))).toEqual([true, false]);
});
