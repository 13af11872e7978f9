/** The commands of `browserpool`, as commander has them. Each loads what it does when it is called. */
import { dirname, resolve } from "node:path";
import tab from "@bomb.sh/tab/commander";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Variables } from "../platform/base/environment.ts";
import { type Format, formats } from "./output.ts";

/** What commands do with the process. `signal`: aborted by the first SIGINT or SIGTERM from the first call on. */
export type Terminal = {
  env: Readonly<Variables>;
  print(text: string): void;
  complain(text: string): void;
  signal(): AbortSignal;
};

const port = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError("give a number from 0 to 65535");
  return number;
};

const seconds = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 600) throw new InvalidArgumentError("give whole seconds, 0 to 600");
  return number;
};

const dataDir = new Option("--data-dir <dir>", "Where data, logs and local.json are kept").default(".browserpool");
const output = new Option("-o, --output <format>", "What is printed").choices(formats).default("table");

/** Adds what says which service a command calls. */
const onService = (command: Command): Command =>
  command
    .addOption(dataDir)
    .addHelpText(
      "after",
      "\nThe service is that of KERNEL_BASE_URL and KERNEL_API_KEY, else the local mode that runs on --data-dir.",
    );

/** Adds what every command takes that prints objects of a service. */
const ofObjects = (command: Command): Command => onService(command.addOption(output));

type ServiceOptions = { output?: Format; dataDir: string };

/** What a command needs to call the service that its options name. */
const asked = async ({ output: format = "table", dataDir: folder }: ServiceOptions, { env, signal }: Terminal) => {
  const { findService } = await import("./service.ts");
  return { service: await findService(resolve(folder), env), format, signal: signal() };
};

/** Pools and sessions of a service that runs. */
const addUse = (program: Command, terminal: Terminal): void => {
  const { print } = terminal;
  ofObjects(program.command("acquire").argument("[pool]", "Its name or id", "demo"))
    .description("Acquire a warm browser of a pool, and print its URLs")
    .option("--wait <seconds>", "How long to wait for one", seconds, 60)
    .action(async (pool: string, options: ServiceOptions & { wait: number }) => {
      const { acquire } = await import("./browsers.ts");
      print(await acquire(pool, options.wait, await asked(options, terminal)));
    });
  onService(program.command("release").argument("<session>", "Its id or name"))
    .description("End a session; a browser of a pool goes back to it")
    .option("--discard", "The pool makes a new browser instead", false)
    .action(async (session: string, options: ServiceOptions & { discard: boolean }) => {
      const { release } = await import("./browsers.ts");
      print(await release(session, options.discard, await asked(options, terminal)));
    });
  ofObjects(program.command("pools").argument("[pool]", "One of them, by name or id"))
    .description("Show pools")
    .action(async (pool: string | undefined, options: ServiceOptions) => {
      const { showPools } = await import("./browsers.ts");
      print(await showPools(pool, await asked(options, terminal)));
    });
  ofObjects(program.command("sessions").argument("[session]", "One of them, by id or name"))
    .description("Show the sessions that run")
    .action(async (session: string | undefined, options: ServiceOptions) => {
      const { showSessions } = await import("./browsers.ts");
      print(await showSessions(session, await asked(options, terminal)));
    });
};

/** What a person does on the own machine. */
const addLocal = (program: Command, terminal: Terminal, main: string): void => {
  const { print, env } = terminal;
  program
    .command("local")
    .description("Run everything on this machine: a Kubernetes API, Redis, the API and the operator")
    .option("--port <number>", "Port of the HTTP API; by default 8080, or the next free one", port)
    .addOption(dataDir)
    .option("--fresh", "Begin without the data of former runs", false)
    .option("--no-demo", "Make no pool demo where there is no pool")
    .option("--open", "Show the console in a browser when it is ready", false)
    .action(async (options: LocalCommand) => {
      const { local } = await import("./local.ts");
      await local({ ...options, dataDir: resolve(options.dataDir), main }, terminal);
    });
  program
    .command("env")
    .description('Print what points clients at the local mode that runs: eval "$(browserpool env)"')
    .addOption(dataDir)
    .action(async (options: { dataDir: string }) => {
      const { exportLines } = await import("./env.ts");
      print(await exportLines(resolve(options.dataDir)));
    });
  onService(program.command("open"))
    .description("Open the console in a browser, and print a URL that signs in once")
    .action(async (options: { dataDir: string }) => {
      const { consoleUrl, openPage } = await import("./open.ts");
      const { findService } = await import("./service.ts");
      const stop = terminal.signal();
      const url = await consoleUrl(await findService(resolve(options.dataDir), env), stop);
      print(url);
      await openPage(url, env, stop);
    });
};

/** `doctor`, for people of a machine and of a cluster. */
const addDoctor = (program: Command, terminal: Terminal, main: string): void => {
  program
    .command("doctor")
    .description("Look at everything that can be wrong on this machine, or in a cluster, and say the way out")
    .addOption(output)
    .addOption(dataDir)
    .option("--port <number>", "Port that the API would have", port, 8080)
    .option("--cluster", "Look at an installation in the cluster of the kubeconfig instead", false)
    .option("--namespace <namespace>", "With --cluster: namespace of the installation", "browserpool-system")
    .option("--release <name>", "With --cluster: its name in Helm", "browserpool")
    .option("--project <namespace>", "With --cluster: namespace of the key's project", "browserpool-default")
    .option("--pool <pool>", "With --cluster: acquire a browser of this pool, instead of making one for it")
    .addHelpText(
      "after",
      "\nIn a cluster it also uses the service of KERNEL_BASE_URL and KERNEL_API_KEY, where they are set: it stores an\nextension, makes a pool, acquires its browser and tries what that reaches beside another one, and removes all of it.",
    )
    .action(async (options: DoctorCommand) => {
      const { doctor } = await import("./doctor/doctor.ts");
      const signal = terminal.signal();
      await using stack = new AsyncDisposableStack();
      const checks = options.cluster
        ? await inCluster(options, { terminal, signal }, stack)
        : await onMachine(options, main);
      const { text, isWell } = await doctor(checks, options.output, signal);
      terminal.print(text);
      if (!isWell) process.exitCode = 1;
    });
};

type DoctorCommand = {
  output: Format;
  dataDir: string;
  port: number;
  cluster: boolean;
  namespace: string;
  release: string;
  project: string;
  pool?: string;
};

const onMachine = async ({ dataDir: folder, port: apiPort }: DoctorCommand, main: string) => {
  const { machineChecks } = await import("./doctor/machine.ts");
  return machineChecks({ dataDir: resolve(folder), apiPort, product: dirname(dirname(main)) });
};

const inCluster = async (
  { namespace, release, project: projectNamespace, pool }: DoctorCommand,
  { terminal: { env, complain: say }, signal }: { terminal: Terminal; signal: AbortSignal },
  stack: AsyncDisposableStack,
) => {
  const { clusterChecks } = await import("./doctor/cluster.ts");
  return clusterChecks({ namespace, release, projectNamespace }, { env, pool, say, signal }, stack);
};

type LocalCommand = { port?: number; dataDir: string; fresh: boolean; demo: boolean; open: boolean };

/** What runs in a cluster; configured by environment variables. */
const addServices = (program: Command, { print, complain, env, signal }: Terminal): void => {
  const variables = "It is configured by environment variables: docs/configuration.md.";
  for (const [name, does] of [
    ["api", "the HTTP API and the gateway to browsers"],
    ["operator", "the controllers; one replica leads"],
  ] as const)
    program
      .command(name)
      .description(`Run ${does}`)
      .addHelpText("after", `\n${variables}`)
      .action(async () => {
        const { runService } = await import("./run-service.ts");
        await runService(name, signal());
      });
  // main.ts runs it, without this file.
  program.command("agent").description("Run beside one Chromium, in a browser pod");
  program
    .command("probe")
    .description(
      "Do what a caller does with a service that runs; says how each step went, and ends with 0 if all went well",
    )
    .addHelpText(
      "after",
      `
Environment:
  BROWSERPOOL_PROBE_URL   URL of the HTTP API
  BROWSERPOOL_API_KEY     an API key
  BROWSERPOOL_PROBE_POOL  id or name of the pool to acquire from; left out, it makes a pool of one, and deletes it in the end`,
    )
    .action(async () => {
      const { readProbeConfig } = await import("../cmd/probe/probe-config.ts");
      const { probe } = await import("../cmd/probe.ts");
      process.exitCode = await probe(readProbeConfig(env), print, signal());
    });
  const registry = program
    .command("registry")
    .description("What the config registry knows, as JSON lines")
    .helpCommand(false);
  for (const verb of ["export", "import"] as const)
    registry
      .command(verb)
      .description(`${verb === "export" ? "Export" : "Import"} it, by the kubeconfig that kubectl would use`)
      .option("--file <file>", `Instead of standard ${verb === "export" ? "output" : "input"}`)
      .action(async ({ file }: { file?: string }) => {
        const { readConfig } = await import("../core/config/config.ts");
        const { runRegistry } = await import("../cmd/registry.ts");
        await runRegistry({ verb, file, systemNamespace: readConfig().systemNamespace, say: complain }, signal());
      });
};

/** All commands. `main`: the file that runs them, which agents are started with too. */
export const createProgram = (terminal: Terminal, { main, version }: { main: string; version: string }): Command => {
  const program = new Command("browserpool")
    .description("Warm browsers, handed out one holder at a time.")
    .version(version, "--version", "Print the version")
    .helpOption("--help", "Print this text, or that of a command")
    .helpCommand(false)
    .showHelpAfterError("(see browserpool --help)")
    .exitOverride();
  program.commandsGroup("On this machine:");
  addLocal(program, terminal, main);
  addDoctor(program, terminal, main);
  program.commandsGroup("With a service:");
  addUse(program, terminal);
  program.commandsGroup("In a cluster:");
  addServices(program, terminal);
  program.commandsGroup("Other commands:");
  program
    .command("version")
    .description("Print the version")
    .action(() => terminal.print(version));
  tab(program, { completionCommandName: "completion" });
  return program;
};
