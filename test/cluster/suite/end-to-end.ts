/** The end-to-end tests that local mode passes, done once more against the Service. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { drawn } from "../../support/draw.ts";
import type { Phase } from "../lane.ts";
import { programRunner } from "../setup/programs.ts";
import { TimeOver } from "../time-over.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Those that need nothing of local mode but its address. */
const files = [
  "sdk",
  "sdk-sessions",
  "yaml.slow",
  "on-demand.slow",
  "hand-over",
  "idle-timeout.slow",
  "http-errors",
  "patch-rules",
  "limits",
  "policies.slow",
  "settings.slow",
];

type Results = {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

/** How vitest and the tests' own waits say that a time was over. */
const timeOver = /: (Error: )?(not within \d+ s|(Test|Hook) timed out in \d+ms)/;

/** One line a failed test, and one a file that could not be loaded. */
const failuresIn = ({ testResults }: Results): string[] =>
  testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (status === "failed" && failed.length === 0) return [`${name} could not begin: ${message}`];
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split("\n")[0]}`);
  });

export const endToEnd: Phase = {
  name: "end-to-end",
  summary: "pools by YAML and HTTP, on-demand browsers, the public SDK, against the Service",
  async run({ addressFile, cluster, draw, folder, signal }, check) {
    for (const file of draw ? drawn(files, draw) : files)
      await check(`${file}.test.ts`, async () => {
        const output = join(folder, `${file}.json`);
        const env = {
          ...process.env,
          KUBECONFIG: cluster.kubeconfig,
          BROWSERPOOL_TEST_ADDRESS_FILE: addressFile,
          NO_COLOR: "1",
        };
        const run = programRunner(env, { logFile: join(folder, `${file}.log`), signal });
        const vitest = resolve(root, "node_modules/vitest/vitest.mjs");
        const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${output}`];
        const failed = await run(
          process.execPath,
          vitest,
          "run",
          "--root",
          root,
          ...reporters,
          // What is done once more is decided for the whole phase.
          "--retry=0",
          `test/e2e/${file}.test.ts`,
        )
          .then(() => undefined)
          .catch((error: unknown) => error);
        const results = JSON.parse(await readFile(output, "utf8").catch(() => '{"testResults":[]}')) as Results;
        const failures = failuresIn(results);
        if (failures.length > 0)
          throw new (failures.every((failure) => timeOver.test(failure)) ? TimeOver : Error)(failures.join("\n"));
        if (failed) throw failed;
        return `${results.testResults.flatMap(({ assertionResults }) => assertionResults).length} tests`;
      });
  },
};
