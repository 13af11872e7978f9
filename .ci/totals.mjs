/**
 * Reads the JSON reports of vitest.
 *
 *   failed-files REPORT     the files in which something failed, a line each; fails when there is none, or no whole report
 *   totals FIRST SECOND     the failed tests in their order, each with the first words of every try, since others may have
 *                           followed from the first cause; then the totals, in which a file of SECOND replaces that of FIRST
 *
 * SECOND need not exist.
 */
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const [command, first, second] = process.argv.slice(2);

const read = (path) => {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text !== "") return JSON.parse(text).testResults;
  console.error("no totals: the tests did not come to their end");
  process.exit(1);
};

const pathOf = (file) => relative(process.cwd(), file.name);
const testsOf = (file, ...states) => file.assertionResults.filter(({ status }) => states.includes(status));

/** A file that can't even be set up has no failed test. */
const isBroken = (file) => file.status === "failed" && testsOf(file, "failed").length === 0;

const printFailed = (files, what) => {
  for (const file of files) {
    if (isBroken(file)) console.log(`${what}: ${pathOf(file)}`);
    for (const test of testsOf(file, "failed")) {
      console.log(`${what}: ${test.fullName}`);
      for (const message of test.failureMessages) console.log(`  ${message.split("\n")[0].slice(0, 300)}`);
    }
  }
};

const commands = {
  "failed-files": () => {
    const paths = read(first)
      .filter(({ status }) => status === "failed")
      .map(pathOf);
    for (const path of paths) console.log(path);
    if (paths.length === 0) process.exitCode = 1;
  },
  totals: () => {
    const all = read(first);
    const again = existsSync(second) ? read(second) : [];
    const files = [...new Map([...all, ...again].map((file) => [file.name, file])).values()];
    printFailed(all, "failed");
    printFailed(again, "failed again");
    if (again.length > 0) console.log(`ran once more: ${again.map(pathOf).join(", ")}`);
    const count = (...states) => files.flatMap((file) => testsOf(file, ...states)).length;
    const broken = files.filter(isBroken).length;
    console.log(
      `${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped", "pending", "todo")} skipped`,
    );
  },
};
commands[command]();
