/** One driver: a process of chromedriver, which has one session, from its start to its end. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { AgentConfig } from "../../../../core/agent/agent-config.ts";
import { CallRefused } from "../../../../core/agent/call-routes.ts";
import { groupsFileOf } from "../../../../core/agent/chromium.ts";
import { doubling, retry } from "../../../../platform/base/retry.ts";
import { startGroupProcess } from "../../../../platform/process/group-process.ts";
import { lacksNamespaces } from "../../../code/agent/apart.ts";
import { mostAnswerBytes } from "../../calls.ts";
import { errorAnswer, type WebDriverAnswer } from "../../webdriver-answer.ts";
import { type DriverSockets, driverCommand } from "./driver-command.ts";

/** Time for its process to be up, ms: 50 ms on a quiet machine. */
const startMs = 15_000;

/** How long its forwarder may be later than itself, ms. */
const forwarderMs = 3000;

/** Connections to it at once: one command of a session runs at a time, others wait in it. */
const mostConnections = 8;

/** A folder whose path is longer has no room for the names of sockets, which have 107 characters at most. */
const longestFolder = 60;

/** Another command is answered while the driver carries one out, e.g. that which closes a dialog. */
type Command = { method: string; path: string; body?: object | undefined };

type DriverAnswer = { status: number; body: unknown };

const Body = z.object({ value: z.unknown() });
const Failed = z.looseObject({ error: z.string(), message: z.string() });

export type Driver = {
  /** Resolves with its answer. Rejects when that is too long or not there within `withinMs`, and when it has ended. */
  send(command: Command, withinMs: number): Promise<DriverAnswer>;
  /** Resolves when its process has ended. Never rejects. */
  ended: Promise<void>;
  /** Kills it, if it runs. Resolves when nothing of it is left. Never rejects. */
  end(): Promise<void>;
};

/** The answer for the client, without the driver's stack. Bodies of other shapes come from no driver. */
export const asAnswer = ({ status, body }: DriverAnswer): WebDriverAnswer => {
  const { data } = Body.safeParse(body);
  if (!data) return errorAnswer("unknown error", "the driver's answer is not of WebDriver");
  const failed = status === 200 ? undefined : Failed.safeParse(data.value).data;
  return { status, body: { value: failed ? { ...failed, stacktrace: "" } : data.value } };
};

/** An answer that is not read to its end. */
export class AnswerTooLong extends Error {
  override name = "AnswerTooLong";
}

/** No answer in time. */
export class AnswerTooLate extends Error {
  override name = "AnswerTooLate";
}

const exchange = (socket: { path: string; agent: Agent }, { method, path, body }: Command, withinMs: number) =>
  new Promise<DriverAnswer>((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const headers = {
      // It takes no other host.
      host: "127.0.0.1",
      ...(text !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    };
    const asked = request({ socketPath: socket.path, agent: socket.agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > mostAnswerBytes) asked.destroy(new AnswerTooLong());
        else chunks.push(chunk);
      });
      response.once("error", reject);
      response.once("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
        } catch (error) {
          reject(error);
        }
      });
    });
    const timer = setTimeout(() => asked.destroy(new AnswerTooLate()), withinMs);
    asked.once("close", () => clearTimeout(timer));
    asked.once("error", reject);
    asked.end(text);
  });

/** Names that nobody can guess: who reaches these sockets is the agent, or a driver. */
const makeSockets = async (dataDir: string): Promise<{ folder: string; sockets: DriverSockets }> => {
  const folder = await mkdtemp(join(dataDir.length > longestFolder ? tmpdir() : dataDir, "webdriver-"));
  const secret = (): string => join(folder, randomBytes(16).toString("base64url"));
  return { folder, sockets: { driver: secret(), devTools: secret() } };
};

const requireProgram = async (program: string | undefined): Promise<string> => {
  const isThere =
    program !== undefined &&
    (await access(program, constants.X_OK).then(
      () => true,
      () => false,
    ));
  if (isThere) return program;
  throw new CallRefused("not_supported_here", "this browser's machine has no chromedriver");
};

type StartDeps = {
  config: AgentConfig;
  /** Makes the bridge to DevTools at this socket. */
  bridge(socket: string): Promise<AsyncDisposable>;
};

/** Throws a `CallRefused` where there is no chromedriver, or it can't have namespaces of its own. */
export const startDriver = async ({ config, bridge }: StartDeps, signal: AbortSignal): Promise<Driver> => {
  const program = await requireProgram(config.programs.chromedriver);
  await using parts = new AsyncDisposableStack();
  const { folder, sockets } = await makeSockets(config.dataDir);
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  parts.use(await bridge(sockets.devTools));
  const started = startGroupProcess(
    {
      name: "chromedriver",
      ...driverCommand(program, sockets, config),
      env: config.inheritedEnv,
      readyFd: 2,
      startDeadlineMs: startMs,
      groupsFile: groupsFileOf(config),
    },
    signal,
  );
  const child = await started.catch((error: Error) => {
    if (!lacksNamespaces(error.message)) throw error;
    throw new CallRefused("not_supported_here", "this browser's machine lets nobody make the namespaces of a driver");
  });
  parts.defer(() => child.end(0));
  const agent = new Agent({ keepAlive: true, maxSockets: mostConnections });
  parts.defer(() => agent.destroy());
  const socket = { path: sockets.driver, agent };
  await retry(() => exchange(socket, { method: "GET", path: "/status" }, startMs), {
    isCurable: () => true,
    pauseMs: doubling(5, 100),
    withinMs: forwarderMs,
    signal,
  });
  const kept = parts.move();
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= kept.disposeAsync().catch(() => undefined);
    return ending;
  };
  const ended = child.exited.then(end);
  return { send: (command, withinMs) => exchange(socket, command, withinMs), ended, end };
};
