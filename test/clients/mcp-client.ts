/** An MCP client over stdin and stdout, as programs of agents have one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** What a tool of a server answers. */
type ToolAnswer = { isError: boolean; text: string; images: string[] };

/** A server that runs. */
export type McpServer = AsyncDisposable & {
  /** Calls a tool. Rejects when no answer comes in time. */
  call(tool: string, input?: object): Promise<ToolAnswer>;
};

type Message = {
  id?: number;
  result?: { content?: { type: string; text?: string; data?: string }[]; isError?: boolean };
};

/** Longest wait for an answer, ms. */
const answerMs = 30_000;

/** Starts a server, and makes itself known to it. `cwd`: where it leaves its files. */
export const startMcpServer = async (command: string, args: readonly string[], cwd: string): Promise<McpServer> => {
  const child = spawn(command, args, { cwd, env: { ...process.env, TMPDIR: cwd }, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (message: Message) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const message: Message = JSON.parse(line);
    waiting.get(message.id ?? 0)?.(message);
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let lastId = 0;
  const ask = async (method: string, params: object): Promise<Message> => {
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const timer = setTimeout(() => reject(new Error(`no answer to ${JSON.stringify(params)}`)), answerMs);
    waiting.set(id, resolve);
    send({ id, method, params });
    return promise.finally(() => clearTimeout(timer));
  };
  const clientInfo = { name: "test", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    async call(name, input = {}) {
      const { result } = await ask("tools/call", { name, arguments: input });
      const content = result?.content ?? [];
      return {
        isError: result?.isError === true || result === undefined,
        text: content.map((part) => part.text ?? "").join("\n"),
        images: content.flatMap((part) => part.data ?? []),
      };
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), answerMs);
      if (child.exitCode === null) await once(child, "exit");
      clearTimeout(timer);
    },
  };
};
