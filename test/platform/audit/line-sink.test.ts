/** The stream that audit lines are written to, in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createLineSink } from "../../../src/platform/base/log.ts";

const sinkFile = JSON.stringify(join(import.meta.dirname, "../../../src/platform/base/log.ts"));

/** Runs a script with a sink on stdout; it tells on stderr. */
const run = (script: string) => {
  const source = `import { createLineSink } from ${sinkFile};\nlet lost = 0;\nconst sink = createLineSink("stdout", () => { lost += 1; });\n${script}`;
  return spawn(process.execPath, ["--input-type=module-typescript", "-e", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
};

test("a file gets every line, is only appended to, and is the owner's alone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-audit-"));
  const path = join(folder, "audit.log");
  for (const part of ["a", "b"]) {
    const sink = createLineSink(path, () => expect.unreachable("no line is lost"));
    for (let i = 0; i < 1000; i++) sink.write(`${part}${i}`);
    await sink.close();
  }
  const lines = (await readFile(path, "utf8")).split("\n");
  expect([lines.length, lines[0], lines[1999], lines[2000]]).toEqual([2001, "a0", "b999", ""]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});

test("a file that can't be written stops the start", () => {
  expect(() => createLineSink("/nowhere/audit.log", () => undefined)).toThrow("ENOENT");
});

test("stdout gets every line before the process ends", async () => {
  const child = run(`for (let i = 0; i < 5000; i++) sink.write("line " + i); await sink.close(); process.exit(0);`);
  const lines = (await text(child.stdout)).split("\n");
  expect([lines.length, lines[4999]]).toEqual([5001, "line 4999"]);
});

// AUDIT-5
test("a reader that stands still holds up nobody: lines beyond the bound are lost and counted", async () => {
  const child = run(`
    const line = "x".repeat(1000);
    let longestMs = 0;
    for (let i = 0; i < 200; i++) {
      const beganMs = performance.now();
      for (let j = 0; j < 100; j++) sink.write(line);
      longestMs = Math.max(longestMs, performance.now() - beganMs);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const closing = performance.now();
    await sink.close();
    process.stderr.write(JSON.stringify({ lost, longestMs, closeMs: performance.now() - closing, rss: process.memoryUsage().rss }));
    process.kill(process.pid, "SIGKILL");
  `);
  // Nobody reads stdout.
  const told = JSON.parse(await text(child.stderr));
  await once(child, "exit").catch(() => undefined);
  expect(told.lost).toBeGreaterThan(10_000);
  // Who waits for the reader waits for ever.
  expect(told.longestMs).toBeLessThan(2000);
  expect(told.closeMs).toBeLessThan(10_000);
  expect(told.rss).toBeLessThan(200 * 1024 * 1024);
});
