/** The commands of `browserpool`, as commander has them. Each loads what it does when it is called. */
import { dirname, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { addAbout, addProbe, addUse, dataDir, newProgram, output, type Terminal } from "./client-program.ts";
import type { Format } from "./output.ts";

const port = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError("give a number from 0 to 65535");
  return number;
};

/** What a person does on the own machine. */
const addLocal = (program: Command, terminal: Terminal, main: string): void => {
  const { print } = terminal;
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
    .option("--cluster-domain <domain>", "With --cluster: domain of its DNS", "cluster.local")
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
  clusterDomain: string;
  pool?: string;
};

const onMachine = async ({ dataDir: folder, port: apiPort }: DoctorCommand, main: string) => {
  const { machineChecks } = await import("./doctor/machine.ts");
  return machineChecks({ dataDir: resolve(folder), apiPort, product: dirname(dirname(main)) });
};

const inCluster = async (
  { namespace, release, project: projectNamespace, clusterDomain, pool }: DoctorCommand,
  { terminal: { env, complain: say }, signal }: { terminal: Terminal; signal: AbortSignal },
  stack: AsyncDisposableStack,
) => {
  const { clusterChecks } = await import("./doctor/cluster.ts");
  return clusterChecks({ namespace, release, projectNamespace, clusterDomain }, { env, pool, say, signal }, stack);
};

type LocalCommand = { port?: number; dataDir: string; fresh: boolean; demo: boolean; open: boolean };

/** What runs in a cluster; configured by environment variables. */
const addServices = (program: Command, { signal }: Terminal): void => {
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
};

/** The config registry as a file. */
const addRegistry = (program: Command, { complain, signal }: Terminal): void => {
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
  const program = newProgram(version);
  program.commandsGroup("On this machine:");
  addLocal(program, terminal, main);
  addDoctor(program, terminal, main);
  program.commandsGroup("With a service:");
  addUse(program, terminal);
  program.commandsGroup("In a cluster:");
  addServices(program, terminal);
  addProbe(program, terminal);
  addRegistry(program, terminal);
  addAbout(program, terminal, version);
  return program;
};
