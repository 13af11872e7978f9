/** `browserpool <command>`: argv → command. Only this file ends the process. The agent handles signals itself. */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const usage = `browserpool: warm browsers, handed out one holder at a time

usage: browserpool <command> [options]

commands
  local      everything on this machine: a Kubernetes API, Redis, the API and the operator
               --port N        port of the HTTP API (default 8080)
               --data-dir DIR  where data, logs and local.json are kept (default .browserpool)
               --fresh         begin without the data of former runs
  api        the HTTP API and the WebSocket gateway
  operator   the controllers; one replica leads
  agent      beside one Chromium, in a browser pod
  registry   export or import: what the config registry knows, as JSON lines, by the kubeconfig that kubectl would use
               --file FILE     instead of standard output or input
  probe      does what a caller does with a service that runs, says how each step went, and ends with 0 if all went well

options
  --help     this text, or that of a command
  --version  the version

api and operator are configured by environment variables; see README.md. probe takes

  BROWSERPOOL_PROBE_URL   URL of the HTTP API
  BROWSERPOOL_API_KEY     an API key
  BROWSERPOOL_PROBE_POOL  id or name of the pool to acquire from; left out, it makes a pool of one, and deletes it in the end
`;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`browserpool: ${text}\n`);

/** Aborted by the first SIGINT or SIGTERM; the second one ends the process at once. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  return stop.signal;
};

const whenAborted = async (signal: AbortSignal): Promise<void> => {
  const aborted = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => aborted.resolve(), { once: true });
  if (!signal.aborted) await aborted.promise;
};

const parsePort = (text: string): number => {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new Error(`--port ${text}: give a number from 0 to 65535`);
  return port;
};

const local = async (argv: string[]): Promise<number> => {
  const { values } = parseArgs({
    args: argv,
    options: {
      port: { type: "string", default: "8080" },
      "data-dir": { type: "string", default: ".browserpool" },
      fresh: { type: "boolean", default: false },
    },
  });
  const { runLocal } = await import("./cmd/local.ts");
  const startMs = performance.now();
  const options = {
    port: parsePort(values.port),
    dataDir: resolve(values["data-dir"]),
    fresh: values.fresh,
    // A small young generation: an agent makes little garbage, and every browser has one.
    agentCommand: [process.execPath, "--max-semi-space-size=1", fileURLToPath(import.meta.url)] as const,
    say: (line: string) => print(`browserpool: ${line}`),
  };
  const { banner } = await import("./local/banner.ts");
  const onReady: Parameters<typeof runLocal>[1] = (running) => print(banner(running, performance.now() - startMs));
  await runLocal(options, onReady, stopSignal());
  return 0;
};

const service = async (name: "api" | "operator"): Promise<number> => {
  const { readConfig } = await import("./core/config/config.ts");
  const { createLogger } = await import("./platform/base/log.ts");
  const config = readConfig();
  const log = createLogger(config.logLevel, name);
  const signal = stopSignal();
  const start =
    name === "api" ? (await import("./cmd/api.ts")).startApi : (await import("./cmd/operator.ts")).startOperator;
  const running = await start({ config, signal }, log).catch((error: unknown) => {
    // A stop before the start has finished is no error.
    if (!signal.aborted) throw error;
  });
  await whenAborted(signal);
  await running?.stop();
  return 0;
};

const agent = async (): Promise<number> => {
  const { readAgentConfig } = await import("./core/agent/agent-config.ts");
  const { runAgent } = await import("./cmd/agent.ts");
  const { createAgentLogs } = await import("./cmd/serve-browser.ts");
  const { listenForStop } = await import("./cmd/stop-signals.ts");
  const { environment, forgetVariable } = await import("./platform/base/environment.ts");
  const logs = createAgentLogs(environment.BROWSERPOOL_LOG_LEVEL ?? "info");
  const config = readAgentConfig(environment);
  forgetVariable("BROWSERPOOL_AGENT_KEY");
  return runAgent(config, listenForStop(), logs);
};

const probe = async (): Promise<number> => {
  const { environment } = await import("./platform/base/environment.ts");
  const { readProbeConfig } = await import("./cmd/probe/probe-config.ts");
  const { probe: run } = await import("./cmd/probe.ts");
  return run(readProbeConfig(environment), print, stopSignal());
};

const registry = async ([verb, ...argv]: string[]): Promise<number> => {
  if (verb !== "export" && verb !== "import") {
    complain("registry takes export or import; see browserpool --help");
    return 2;
  }
  const { values } = parseArgs({ args: argv, options: { file: { type: "string" } } });
  const { readConfig } = await import("./core/config/config.ts");
  const { runRegistry } = await import("./cmd/registry.ts");
  const { systemNamespace } = readConfig();
  await runRegistry({ verb, file: values.file, systemNamespace, say: complain }, stopSignal());
  return 0;
};

const commands: Record<string, (argv: string[]) => Promise<number>> = {
  local,
  api: () => service("api"),
  operator: () => service("operator"),
  agent,
  probe,
  registry,
};

const version = async (): Promise<string> => {
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  return manifest.version;
};

const main = async ([name, ...argv]: string[]): Promise<number> => {
  if (name === "--version") {
    print(await version());
    return 0;
  }
  if (name === undefined || name === "--help" || argv.includes("--help")) {
    print(usage);
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    complain(`unknown command ${name}; see browserpool --help`);
    return 2;
  }
  return command(argv);
};

process.on("unhandledRejection", (reason) => {
  complain(`unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`);
  process.exit(1);
});

try {
  process.exitCode = await main(process.argv.slice(2));
  process.exit();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
