/**
 * A vitest reporter: appends the errors that no test caught to the file UNHANDLED_ERRORS_FILE, one JSON text a line.
 * vitest's own reports lack them, and the second run of a failed file must not hide them.
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
