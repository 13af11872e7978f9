/** The commands of people, called as programs against a service that runs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { untilAvailable } from "../support/filled-pool.ts";
import { withCdp } from "../support/raw-cdp.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

let project: LocalProject;
let folder: string;
beforeAll(async () => {
  project = await startProject();
  folder = await mkdtemp(join(tmpdir(), "cli-test-"));
  await project.kernel.browserPools.create({ name: "demo", size: 1, headless: true, fill_rate_per_minute: 6000 });
  await untilAvailable(project.kernel, "demo", 1);
});
afterAll(async () => {
  await project?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Ran = { code: number | null; out: string; err: string };

/** Runs a command in an empty folder. `env`: by default that of the project. */
const browserpool = async (args: string[], env?: Record<string, string>): Promise<Ran> => {
  const service = { KERNEL_BASE_URL: project.url, KERNEL_API_KEY: project.api_key };
  const child = spawn(process.execPath, [main, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", ...(env ?? service) },
    timeout: 60_000,
  });
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
};

test("acquire gives a browser that can be driven, sessions shows it, release gives it back", async () => {
  const acquired = await browserpool(["acquire", "-o", "json"]);
  expect(acquired).toMatchObject({ code: 0, err: "" });
  const { session_id, cdp_ws_url } = JSON.parse(acquired.out);
  await withCdp(cdp_ws_url, async (cdp) => expect(await cdp.send("Browser.getVersion")).toBeTruthy());

  expect((await browserpool(["sessions", "-o", "name"])).out).toBe(`${session_id}\n`);
  expect((await browserpool(["sessions"])).out).toMatch(
    new RegExp(`^SESSION +NAME +POOL +HEADLESS +AGE\\n${session_id} +- +demo +true +\\d+s\\n$`),
  );
  expect(parse((await browserpool(["sessions", session_id, "-o", "yaml"])).out)).toMatchObject({ session_id });
  expect((await browserpool(["pools"])).out).toMatch(/^demo +1 +0 +1 +true +\d+s$/m);

  expect(await browserpool(["release", session_id])).toEqual({
    code: 0,
    out: `session ${session_id} ended; pool demo has its browser back\n`,
    err: "",
  });
  await untilAvailable(project.kernel, "demo", 1);
  expect((await browserpool(["sessions"])).out).toBe("no sessions\n");
});

test("without a free browser acquire waits, says so, and ends with 3", async () => {
  const { session_id } = JSON.parse((await browserpool(["acquire", "-o", "json"])).out);
  expect(await browserpool(["acquire", "--wait", "1"])).toEqual({
    code: 3,
    out: "",
    err: "browserpool: no browser of demo within 1 s\n",
  });
  expect((await browserpool(["release", session_id, "--discard"])).out).toContain("makes a new browser");
  await untilAvailable(project.kernel, "demo", 1);
});

test("what the service refuses is told with its code", async () => {
  const { code, err } = await browserpool(["acquire", "nowhere"]);
  expect(code).toBe(1);
  expect(err).toMatch(/^browserpool: .*nowhere.*\(not_found\)\n$/);
  const wrong = await browserpool(["pools"], { KERNEL_BASE_URL: project.url, KERNEL_API_KEY: "bp_wrong" });
  expect(wrong).toMatchObject({ code: 1, out: "" });
  expect(wrong.err).toContain("(unauthorized)");
});

test("the service is that of both variables, else that of the data directory", async () => {
  const none = await browserpool(["pools"], {});
  expect(none).toMatchObject({ code: 1, out: "" });
  expect(none.err).toContain("start one by npm start, or set KERNEL_BASE_URL and KERNEL_API_KEY");
  expect((await browserpool(["pools"], { KERNEL_BASE_URL: project.url })).err).toContain("KERNEL_API_KEY is missing");

  const local = { url: project.url, api_key: project.api_key, kubeconfig: "/my k", redis_url: "redis://", pid: 1 };
  await writeFile(join(folder, "local.json"), JSON.stringify(local));
  expect((await browserpool(["pools", "--data-dir", ".", "-o", "name"], {})).out).toBe("demo\n");
  expect((await browserpool(["env", "--data-dir", "."], {})).out).toBe(
    `export KERNEL_BASE_URL=${project.url}\nexport KERNEL_API_KEY=${project.api_key}\nexport KUBECONFIG='/my k'\nexport PATH=${folder}/bin:"$PATH"\n`,
  );
});

test("a service that does not answer is named", async () => {
  const { code, err } = await browserpool(["pools"], { KERNEL_BASE_URL: "http://127.0.0.1:3", KERNEL_API_KEY: "k" });
  expect(code).toBe(1);
  expect(err).toContain("http://127.0.0.1:3 does not answer");
});

test.each([
  [["pols"], "unknown command 'pols'"],
  [["constructor"], "unknown command 'constructor'"],
  [["release"], "missing required argument 'session'"],
  [["pools", "-o", "xml"], "Allowed choices are table, json, yaml, name"],
  [["acquire", "--wait", "-1"], "give whole seconds"],
  [["local", "--port", "99999"], "give a number from 0 to 65535"],
])("%j ends with 2 and says why", async (args, why) => {
  const { code, err } = await browserpool(args, {});
  expect(code).toBe(2);
  expect(err).toContain(why);
});

test("a shell completes commands, options and their values", async () => {
  const complete = async (...words: string[]) => (await browserpool(["complete", "--", ...words], {})).out;
  expect(await complete("")).toMatch(/^acquire\t/m);
  expect(await complete("pools", "--")).toMatch(/^--output\t/m);
  expect(await complete("pools", "--output", "")).toMatch(/^yaml/m);
  for (const shell of ["bash", "zsh", "fish"])
    expect(await browserpool(["completion", shell], {})).toMatchObject({ code: 0, err: "" });
});
