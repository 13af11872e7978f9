/**
 * A reporter of vitest: adds the errors that no test caught to the file of UNHANDLED_ERRORS_FILE, a JSON text a line. The
 * reports of vitest do not have them, and a failed file that runs once more must not hide them.
 */
import { appendFileSync } from "node:fs";

// biome-ignore lint/style/noDefaultExport: vitest takes a reporter's default export
export default class UnhandledErrors {
  /** @param {unknown} _modules @param {readonly { stack?: string, message?: string }[]} errors */
  onTestRunEnd(_modules, errors) {
    const lines = errors.map(({ stack, message }) => `${JSON.stringify(stack ?? message ?? "unknown error")}\n`);
    appendFileSync(process.env.UNHANDLED_ERRORS_FILE ?? "/dev/null", lines.join(""));
  }
}
