/**
 * An executor: a process beside a browser that runs the code of the browser's holder. It has no environment, no network
 * but a pipe to the browser's DevTools, and no rights to anything but the files of the session
 * (agent/executor-command.ts). Its agent gives the orders, one at a time (agent/executor-messages.ts).
 */
import fs from "node:fs";
import { createInterface } from "node:readline";
import type { ExecutorOrder, ExecutorStart } from "../agent/executor-orders.ts";
import { describeError } from "./describe-error.ts";
import type { GuestBrowser } from "./guest-browser.ts";
import { send, takeStreams, writeFor } from "./outlet.ts";

// Playwright asks at its start for files that are none of its own, and takes no for an answer, but no error.
const { existsSync } = fs;
fs.existsSync = (path) => {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
};

// Of a caller's line there may be many of Playwright's above.
Error.stackTraceLimit = 50;

const { connectGuest } = await import("./guest-browser.ts");
const { runFunction } = await import("./run-function.ts");

let guest: GuestBrowser | undefined;

const carryOut = async ({ mode, code, tab: wanted, id }: ExecutorOrder, { browser, tab }: GuestBrowser) => {
  const { page, targetId, created } = await tab(wanted);
  send({ is: "tab", id, target_id: targetId, created });
  const given = { page, context: page.context(), browser };
  if (mode === "function") return runFunction(code, given);
  const [{ beginReplCall, replSurface }, { runRepl }] = await Promise.all([
    import("./repl-surface.ts"),
    import("./run-repl.ts"),
  ]);
  beginReplCall();
  Object.assign(globalThis, given, { repl: replSurface });
  await runRepl(code);
  return undefined;
};

const obey = async (order: ExecutorOrder): Promise<void> => {
  const { id } = order;
  if (!guest) return;
  // The connection can't be made again. The agent starts another executor.
  if (!guest.browser.isConnected()) process.exit();
  writeFor(id);
  try {
    const json = await carryOut(order, guest);
    send({ is: "returned", id, ...(json !== undefined && { json }) });
  } catch (thrown) {
    send({ is: "failed", id, ...describeError(thrown) });
  } finally {
    writeFor(undefined);
  }
};

takeStreams();
// Code may leave promises and timers behind; they fail for themselves.
for (const event of ["uncaughtException", "unhandledRejection"] as const)
  process.on(event, (thrown) => process.stderr.write(`Uncaught ${describeError(thrown).stack}\n`));

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as ExecutorStart | ExecutorOrder;
  if ("id" in order) void obey(order);
  else {
    guest = await connectGuest(order);
    send({ is: "ready" });
  }
}
process.exit();
