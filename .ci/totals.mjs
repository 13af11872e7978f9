/**
 * Reads the files that the stages of `.ci/run` leave in a folder:
 *
 *   tests.json, slow.json               vitest's reports, one of each stage that ran
 *   tests-again.json, slow-again.json   reports of files that ran once more: their tests count in the place of the first ones
 *   unhandled-errors                    errors that no test caught, one JSON text a line
 *   robustness.json, cluster.json       summaries; `unsteady` lists what passed only at the second try
 *
 *   failed-files REPORT       prints the files in which something failed, one a line; fails when there is none, no report, or
 *                             more than may be unsteady
 *   totals FOLDER STAGE…      prints the failures in their order, each with the first line of the error of every try,
 *                             because a first failure can cause the next ones; then what was unsteady, then the totals. Fails
 *                             when one of the stages has no report, when an error was caught by no test, or when more tests are
 *                             unsteady than a run may have
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** How many unsteady tests a run may have. */
const maxUnsteady = 10;

const [command, place = ".", ...stages] = process.argv.slice(2);

const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : "");

const readReport = (path) => {
  const text = textOf(path);
  if (text !== "") return JSON.parse(text).testResults;
  console.error(`${path}: the test run did not finish`);
  if (command === "totals") console.log("0 passed, 1 failed, 0 skipped");
  process.exit(1);
};

const pathOf = (file) => relative(process.cwd(), file.name);
const testsOf = (file, ...states) => file.assertionResults.filter(({ status }) => states.includes(status));

/** A file that fails during its own set-up has no failed test. */
const isBroken = (file) => file.status === "failed" && testsOf(file, "failed").length === 0;

/** The message of an error, without its stack. */
const wordsOf = (error = "", lines = 1) => {
  const said = error.split("\n");
  const end = said.findIndex((line) => /^\s+at /.test(line));
  return said.slice(0, Math.min(lines, end === -1 ? lines : Math.max(1, end))).map((line) => line.slice(0, 300));
};

const printFailed = (files, what) => {
  for (const file of files) {
    if (isBroken(file)) console.log(`${what}: ${pathOf(file)}`);
    for (const test of testsOf(file, "failed")) {
      console.log(`${what}: ${test.fullName}`);
      for (const message of test.failureMessages) console.log(`  ${wordsOf(message)[0]}`);
    }
  }
};

/** Tests that passed after a retry: vitest keeps the errors of the earlier tries. */
const retriedIn = (file) =>
  testsOf(file, "passed")
    .filter(({ failureMessages }) => failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => ({ name: `${pathOf(file)}: ${fullName}`, firstError: failureMessages[0] }));

/** What failed in `file` and passed in its second run. */
const mendedIn = (file, again) => {
  if (isBroken(file)) return again.status === "passed" ? [{ name: pathOf(file), firstError: file.message }] : [];
  const passed = new Set(testsOf(again, "passed").map(({ fullName }) => fullName));
  return testsOf(file, "failed")
    .filter(({ fullName }) => passed.has(fullName))
    .map(({ fullName, failureMessages }) => ({ name: `${pathOf(file)}: ${fullName}`, firstError: failureMessages[0] }));
};

/** Lists each test once, with its first error. */
const unsteadyOf = (all, again) => {
  const mended = all.flatMap((file) => {
    const second = again.find(({ name }) => name === file.name);
    return second ? mendedIn(file, second) : [];
  });
  const found = [...all.flatMap(retriedIn), ...mended, ...again.flatMap(retriedIn)];
  const others = ["robustness.json", "cluster.json"].flatMap(
    (name) => JSON.parse(textOf(join(place, name)) || "{}").unsteady ?? [],
  );
  return [...new Map([...found, ...others].toReversed().map((one) => [one.name, one])).values()].toReversed();
};

const printUnsteady = (unsteady) => {
  if (unsteady.length === 0) return;
  console.log(`unsteady, passed at a second try only (${unsteady.length}):`);
  for (const { name, firstError } of unsteady) {
    console.log(`  ${name}`);
    for (const line of wordsOf(firstError, 3)) console.log(`    ${line}`);
  }
  if (unsteady.length > maxUnsteady) console.log(`more than ${maxUnsteady} are unsteady: the run fails`);
};

const commands = {
  "failed-files": () => {
    const failed = readReport(place).filter(({ status }) => status === "failed");
    for (const file of failed) console.log(pathOf(file));
    const tests = failed.flatMap((file) => testsOf(file, "failed")).length;
    if (tests > maxUnsteady) console.error(`more than ${maxUnsteady} tests failed: no second try`);
    if (failed.length === 0 || tests > maxUnsteady) process.exitCode = 1;
  },
  totals: () => {
    const all = stages.flatMap((stage) => readReport(join(place, `${stage}.json`)));
    const again = stages
      .map((stage) => join(place, `${stage}-again.json`))
      .filter(existsSync)
      .flatMap(readReport);
    const files = [...new Map([...all, ...again].map((file) => [file.name, file])).values()];
    const unhandled = textOf(join(place, "unhandled-errors"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const unsteady = unsteadyOf(all, again);
    printFailed(all, "failed");
    printFailed(again, "failed again");
    for (const error of unhandled) console.log(`not caught by any test: ${wordsOf(error)[0]}`);
    if (again.length > 0) console.log(`ran once more: ${again.map(pathOf).join(", ")}`);
    printUnsteady(unsteady);
    if (unhandled.length > 0 || unsteady.length > maxUnsteady) process.exitCode = 1;
    const count = (...states) => files.flatMap((file) => testsOf(file, ...states)).length;
    const failed = count("failed") + files.filter(isBroken).length + unhandled.length;
    console.log(`${count("passed")} passed, ${failed} failed, ${count("skipped", "pending", "todo")} skipped`);
  },
};
commands[command]();
