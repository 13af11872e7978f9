/** `browserpool probe` against a running service, and against URLs without one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fullPool } from "../support/pool-client.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack[Symbol.asyncDispose]());

const main = join(import.meta.dirname, "../../src/main.ts");

const probe = async (env: Record<string, string>): Promise<{ code: number | null; out: string; err: string }> => {
  const child = spawn(process.execPath, [main, "probe"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: code as number | null, out, err };
};

const env = (more: Record<string, string> = {}) => ({
  BROWSERPOOL_PROBE_URL: stack.url,
  BROWSERPOOL_API_KEY: stack.api_key,
  ...more,
});

const steps = (out: string): string[] => out.split("\n").map((line) => line.replace(/ \(\d+\.\d\d s\)/, ""));

const poolNames = async (): Promise<string[]> =>
  ((await (await stack.call("GET", "/browser_pools")).json()) as { name: string }[]).map(({ name }) => name);

describe("the probe", () => {
  test("makes its own pool, uses it and leaves nothing behind", async () => {
    const { code, out } = await probe(env());
    expect(steps(out.replaceAll(/probe-[0-9a-f]{8}/g, "probe-x"))).toEqual([
      "ok      make pool probe-x of one browser",
      "ok      fill it",
      "ok      acquire a browser",
      "ok      drive a page over CDP",
      "ok      release the browser",
      "ok      delete pool probe-x",
      "probe: all well",
      "",
    ]);
    expect(code).toBe(0);
    expect((await poolNames()).filter((name) => name.startsWith("probe-"))).toEqual([]);
  });

  test("uses a given pool and leaves it unchanged", async () => {
    const pool = await fullPool(stack.call, 1, { name: "probed" });
    const { code, out } = await probe(env({ BROWSERPOOL_PROBE_POOL: "probed" }));
    expect(steps(out)[0]).toBe("ok      find pool probed");
    expect(code).toBe(0);
    await pool.whenCounts({ acquired: 0, available: 1 });
  });

  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      "a pool that there is not",
      () => env({ BROWSERPOOL_PROBE_POOL: "none" }),
      /FAILED {2}find pool none .*404 not_found/,
    ],
    ["a wrong key", () => env({ BROWSERPOOL_API_KEY: "bp_wrong" }), /FAILED {2}make pool .*401 unauthorized/],
    [
      "no service",
      () => env({ BROWSERPOOL_PROBE_URL: "http://127.0.0.77:8080" }),
      /127\.0\.0\.77:8080 can't be reached: .*ECONNREFUSED/,
    ],
  ])("says what is wrong with %s", async (_, given, message) => {
    const { code, out } = await probe(given());
    expect(out).toMatch(message);
    expect(out).not.toContain(given().BROWSERPOOL_API_KEY);
    expect(code).toBe(1);
  });

  test("names the missing variable", async () => {
    const { code, err } = await probe({ BROWSERPOOL_PROBE_URL: "nowhere" });
    expect(err).toMatch(/BROWSERPOOL_PROBE_URL: give the URL.*BROWSERPOOL_API_KEY: is not set/);
    expect(code).toBe(1);
  });
});
