/** The commands that need nothing but a service that runs elsewhere; the npm package has them alone. */
import { resolve } from "node:path";
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

const seconds = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 600) throw new InvalidArgumentError("give whole seconds, 0 to 600");
  return number;
};

/** The folder of local mode. */
export const dataDir = new Option("--data-dir <dir>", "Where data, logs and local.json are kept").default(
  ".browserpool",
);
/** For commands that print objects or findings. */
export const output = new Option("-o, --output <format>", "What is printed").choices(formats).default("table");

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

/** Pools and sessions of a service that runs, and its console. */
export const addUse = (program: Command, terminal: Terminal): void => {
  const { print, env } = terminal;
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

/** A caller that tries a service. */
export const addProbe = (program: Command, { print, env, signal }: Terminal): void => {
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
};

/** A program without commands. */
export const newProgram = (version: string): Command =>
  new Command("browserpool")
    .description("Warm browsers, handed out one holder at a time.")
    .version(version, "--version", "Print the version")
    .helpOption("--help", "Print this text, or that of a command")
    .helpCommand(false)
    .showHelpAfterError("(see browserpool --help)")
    .exitOverride();

/** Adds the commands about the program itself, as the last ones. */
export const addAbout = (program: Command, { print }: Terminal, version: string): void => {
  program.commandsGroup("Other commands:");
  program
    .command("version")
    .description("Print the version")
    .action(() => print(version));
  tab(program, { completionCommandName: "completion" });
};

/** All commands of the npm package. */
export const createClientProgram = (terminal: Terminal, version: string): Command => {
  const program = newProgram(version);
  program.commandsGroup("With a service:");
  addUse(program, terminal);
  addProbe(program, terminal);
  addAbout(program, terminal, version);
  return program;
};
