/** Runs test files in a copy of the tree, supervised: whatever they leave behind ends with them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { root, type Tree } from "./tree.ts";

/** A test that failed, by its file and name. `error`: the first line of what it said. */
export type FailedTest = { file: string; name: string; error: string };

/** `seconds`: of each file. `late`: the time was over first. `broken`: vitest itself failed. */
export type TestsEnd =
  | { kind: "ran"; failed: FailedTest[]; seconds: ReadonlyMap<string, number> }
  | { kind: "late" | "broken"; why: string };

type TestRun = {
  files: readonly string[];
  /** Path of vitest's configuration, below the tree. */
  config?: string;
  /** Further arguments of vitest. */
  args: readonly string[];
  /** Further environment. */
  env?: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
};

type Assertion = { status: string; fullName: string; failureMessages?: string[] };
type FileReport = {
  name: string;
  status: string;
  message?: string;
  startTime: number;
  endTime: number;
  assertionResults: Assertion[];
};

/** Enough of what vitest says to see why it has no report. */
const keptChars = 2000;

const supervise = join(root, "scripts/supervise.mjs");

const failedIn = ({ name, status, message = "", assertionResults }: FileReport, folder: string): FailedTest[] => {
  const file = relative(folder, name);
  const firstLine = (text: string): string => text.split("\n")[0] ?? "";
  const failed = assertionResults
    .filter((one) => one.status === "failed")
    .map(({ fullName, failureMessages }) => ({
      file,
      name: fullName,
      error: firstLine(failureMessages?.[0] ?? message),
    }));
  // A file that fails during its own set-up has no failed test. One that vitest broke off, since another one had
  // failed, says nothing.
  if (failed.length === 0 && status === "failed" && message !== "")
    return [{ file, name: "(the file itself)", error: firstLine(message) }];
  return failed;
};

type Report = { success: boolean; testResults: FileReport[] };

/** What failed in a run in which no test did: an error that none has caught, or a process of vitest that has ended. */
const uncaughtIn = (reports: FileReport[], folder: string): FailedTest[] => {
  const broken = reports.filter(({ status }) => status === "failed");
  return (broken.length > 0 ? broken : reports.slice(0, 1)).map(({ name }) => ({
    file: relative(folder, name),
    name: "(outside of its tests)",
    error: "an error that no test caught",
  }));
};

/** What a report of vitest says; `folder`: the tree's. */
export const endOf = ({ success, testResults: reports }: Report, folder: string): TestsEnd => {
  const failed = reports.flatMap((report) => failedIn(report, folder));
  return {
    kind: "ran",
    failed: failed.length === 0 && !success ? uncaughtIn(reports, folder) : failed,
    seconds: new Map(
      reports.map(({ name, startTime, endTime }) => [relative(folder, name), (endTime - startTime) / 1000]),
    ),
  };
};

/** Runs the files, all of them when there are none. Never rejects because of a test. */
export const runTests = async (
  { folder }: Tree,
  { files, config, args, env = {}, timeoutMs, signal }: TestRun,
): Promise<TestsEnd> => {
  const scratch = await mkdtemp(join(tmpdir(), "browserpool-mutation-run-"));
  const report = join(scratch, "report.json");
  const caches = join(folder, ".browserpool/caches");
  const vitest = [
    join(folder, "node_modules/vitest/vitest.mjs"),
    "run",
    ...["--root", folder],
    ...(config === undefined ? [] : ["--config", join(folder, config)]),
    ...["--retry=0", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`],
    // It goes with the copy.
    `--fsModuleCachePath=${join(caches, "modules")}`,
    ...args,
    ...files,
  ];
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const child = spawn(process.execPath, [supervise, process.execPath, ...vitest], {
      cwd: folder,
      // What a run has compiled serves the next one: of the product only one file differs.
      env: { ...process.env, NODE_COMPILE_CACHE: join(caches, "compiled"), ...env, CI: "" },
      stdio: ["ignore", "pipe", "pipe"],
      signal: AbortSignal.any([signal, late]),
      killSignal: "SIGKILL",
    });
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    const exited = once(child, "exit").catch((error: unknown) => String(error));
    await exited;
    const output = (await said).join("").slice(-keptChars);
    const known = await readFile(report, "utf8").catch(() => undefined);
    if (known === undefined) return { kind: late.aborted || signal.aborted ? "late" : "broken", why: output };
    return endOf(JSON.parse(known) as Report, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 10 });
  }
};
