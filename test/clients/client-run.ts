/** What the tests of public clients share: a page to use, the lines of docs/clients.md, and programs that run them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listeningPort } from "../../src/platform/base/listening-port.ts";
import { docExamples } from "../support/doc-examples.ts";
import { ownAddress } from "../support/own-address.ts";

/** The address that docs/clients.md has where a test has its own site. */
const documentedSite = "https://shop.example/";

const page = `<!doctype html><title>Shop</title><label>Article <input id="article"></label><button onclick="
  document.querySelector('p').textContent = 'found ' + document.querySelector('input').value;
">Look</button><p></p>`;

/** A shop in which one looks for an article. */
export type Shop = Disposable & { url: string };

/** Serves the shop at an address of this machine that each browser reaches. */
export const startShop = async (): Promise<Shop> => {
  const server = createServer((_request, response) => void response.setHeader("content-type", "text/html").end(page));
  await once(server.listen(0, ownAddress()), "listening");
  return {
    url: `http://${ownAddress()}:${listeningPort(server)}/`,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** The only block of docs/clients.md in a language that has this text, about the shop of the test. */
export const documented = (language: string, has: string, { url }: Shop): string => {
  const found = docExamples("clients.md", language).filter((block) => block.includes(has));
  const [block, ...others] = found;
  if (block === undefined || others.length > 0)
    throw new Error(`${found.length} blocks of docs/clients.md have ${has}`);
  return block.replaceAll(documentedSite, url);
};

/** The lines up to one of them, in whose place `instead` comes. */
export const brokenOff = (lines: string, line: string, instead: string): string => {
  const at = lines.indexOf(line);
  if (at < 0) throw new Error(`no ${line} in ${lines}`);
  return lines.slice(0, at) + instead + lines.slice(at + line.length);
};

/** How a program ended. */
export type Ran = { code: number | null; stdout: string; stderr: string };

/** Longest time of a client's program, ms: none hangs, also when its session has ended. */
const programMs = 40_000;

/** Runs a program to its end; `input`: what it reads. One that takes too long is killed, and has no code. */
export const ran = async (
  command: string,
  args: readonly string[],
  { input = "", env = {}, cwd }: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Ran> => {
  const child = spawn(command, args, {
    ...{ env: { ...process.env, ...env }, cwd, timeout: programMs, killSignal: "SIGKILL" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
};

/** Runs lines of a shell. Throws with what they printed when one fails. */
export const shell = async (lines: string, options: { env: NodeJS.ProcessEnv; cwd: string }): Promise<string> => {
  const { code, stdout, stderr } = await ran("bash", ["-euo", "pipefail"], { ...options, input: lines });
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout}\n${stderr}`);
  return stdout;
};
