/** Makes the commands of docs/cli.md from the program itself: what `--help` says. */
import type { Command } from "commander";
import { createProgram } from "../src/cli/program.ts";
import { generateParts } from "./marked-part.ts";

const page = "docs/cli.md";

/** Wide enough for every line of the help, so that the page does not depend on a terminal. */
const columns = 116;

const helpOf = (command: Command): string => {
  let text = "";
  command.configureOutput({
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
    writeOut: (part) => (text += part),
  });
  command.outputHelp();
  return text.trimEnd();
};

/** The commands that do something themselves, with the words before them: `registry export`. */
const leaves = (command: Command, before: string[] = []): [string, Command][] =>
  command.commands.flatMap((one): [string, Command][] => {
    const words = [...before, one.name()];
    return one.commands.length > 0 ? leaves(one, words) : [[words.join(" "), one]];
  });

const fenced = (text: string): string => `\`\`\`\n${text}\n\`\`\``;

/** Writes the texts of `--help` into the page, or with `check` compares them. Returns the page. */
export const generateCli = (options: { check: boolean }): Promise<string> => {
  const nothing = (): void => undefined;
  const terminal = { env: {}, print: nothing, complain: nothing, signal: () => new AbortController().signal };
  const program = createProgram(terminal, { main: "src/main.ts", version: "" });
  const shown = leaves(program).filter(([name]) => name !== "complete");
  const commands = shown.map(([name, command]) => `### ${name}\n\n${fenced(helpOf(command))}`);
  return generateParts(page, { commands: [fenced(helpOf(program)), ...commands].join("\n\n") }, options);
};
