/**
 * Replaces the agent in tests of the local kubelet: the smallest program that behaves like an agent towards the node.
 * Its first argument selects its behaviour. It answers `/readyz` and `/env` at the address in its variables.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { recordProcessGroup } from "../../src/platform/process/process-groups.ts";

const { env } = process;
const behaviour = process.argv[2] ?? "";
let ready = behaviour !== "never-ready";

const end = (message: string, exitCode: number): never => {
  writeFileSync(env.BROWSERPOOL_TERMINATION_LOG ?? "", message);
  process.exit(exitCode);
};

/** Starts what an agent's browser is to the node: a recorded process in its own group. */
const startBrowser = async (): Promise<void> => {
  const browser = spawn("sleep", ["3600"], { detached: true, stdio: "ignore", env: {} });
  await recordProcessGroup(join(env.BROWSERPOOL_AGENT_DATA_DIR ?? "", "process-groups"), browser.pid ?? 0);
  browser.unref();
};

process.on("SIGTERM", () => {
  if (behaviour !== "ignores-sigterm" && behaviour !== "stubborn-with-browser") end("stopped in order", 0);
});
if (behaviour === "crashes") end("it broke", 3);
if (behaviour === "talks-too-much") end("x".repeat(10_000), 1);
if (behaviour.endsWith("with-browser")) await startBrowser();

const become = (isReady: boolean): string => {
  ready = isReady;
  return String(ready);
};

createServer((request, response) => {
  if (request.url === "/env") response.end(JSON.stringify({ env, argv: process.argv.slice(2), cwd: process.cwd() }));
  else if (request.url === "/unready") response.end(become(false));
  else if (request.url === "/ready") response.end(become(true));
  else if (request.url === "/crash") process.kill(process.pid, "SIGKILL");
  else response.writeHead(ready ? 200 : 503).end();
}).listen(Number(env.BROWSERPOOL_AGENT_PORT), env.BROWSERPOOL_AGENT_ADDRESS);
