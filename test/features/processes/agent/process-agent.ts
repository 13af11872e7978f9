/** An agent with a session, whose holder runs processes beside the browser, run by a user who is not root. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserConfig } from "../../../../src/core/protocol/agent-api.ts";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { ProcessOutput } from "../../../../src/features/processes/agent/api.ts";
import type { StartOptions, TestAgent, TestAgents } from "../../../support/agent-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = any;

type Called = { status: number; body: Answered };

type Ran = { code: number; out: string; err: string };

export type ProcessAgent = {
  agent: TestAgent;
  /** Where a process sees the files of the session. */
  files: string;
  /** A call of a session's holder. */
  call(method: string, path: string, body?: object, by?: { session?: string; signal?: AbortSignal }): Promise<Called>;
  /** The value of a call. Rejects for a refusal. */
  value(method: string, path: string, body?: object): Promise<Answered>;
  /** Runs a command of the shell to its end. */
  sh(command: string, more?: object): Promise<Ran>;
  spawn(command: string, more?: object): Promise<string>;
  /** The output of a process, until its end or as soon as it has this text. */
  output(id: string, until?: string): Promise<{ text: string; exit: number | undefined; lost: number }>;
};

/** In a pod, the agent's view of the machine is that of a process, too; in local mode a process has its own. */
export const places = ["pod", "local mode"] as const;

const isRoot = process.getuid?.() === 0;

/** Of the agent. Root has no bound of processes, so each file has a user of its own that nobody else is. */
const plainUser = (): number | undefined => (isRoot ? 21_000 + (process.pid % 10_000) : undefined);

const linesOf = async function* ({ body }: Response): AsyncGenerator<ProcessOutput> {
  let rest = "";
  for await (const chunk of body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter(Boolean)) yield ProcessOutput.parse(JSON.parse(line));
  }
};

export const startProcessAgent = async (
  agents: TestAgents,
  place: (typeof places)[number],
  { browser, ...options }: StartOptions & { browser?: Partial<BrowserConfig> } = {},
): Promise<ProcessAgent> => {
  const own = place === "pod" ? {} : { BROWSERPOOL_OWN_PORTS: "" };
  const user = plainUser();
  const agent = await agents.start(browser, {
    ...(user !== undefined && { user }),
    ...options,
    env: { BROWSERPOOL_PROCESSES: "true", ...own, ...options.env },
  });
  await chmod(agent.dir, 0o700);
  const tokens = createAgentTokens(agent.privateKey);
  const headers = (session: string) => ({
    authorization: `Bearer ${tokens.tokenFor(agent.podUid)}`,
    [sessionHeader]: session,
  });
  const call: ProcessAgent["call"] = async (method, path, body, { session = "s-1", signal } = {}) => {
    const response = await fetch(`${agent.baseUrl}/calls/${path}`, {
      method,
      headers: headers(session),
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return { status: response.status, body: await response.json() };
  };
  const value: ProcessAgent["value"] = async (method, path, body) => {
    const { status, body: answered } = await call(method, path, body);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(answered)}`);
    return answered.answer;
  };
  await agent.bind("s-1", 1);
  return {
    agent,
    files: place === "pod" ? join(agent.dir, "tmp") : "/tmp",
    call,
    value,
    async sh(command, more) {
      const { exit_code, stdout_b64, stderr_b64 } = await value("POST", "process/exec", { command, ...more });
      const text = (base64: string): string => Buffer.from(base64, "base64").toString();
      return { code: exit_code, out: text(stdout_b64), err: text(stderr_b64) };
    },
    spawn: async (command, more) => (await value("POST", "process/spawn", { command, ...more })).process_id,
    async output(id, until) {
      const response = await fetch(`${agent.baseUrl}/processes/${id}?session=s-1`, { headers: headers("s-1") });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      let [text, lost] = ["", 0];
      for await (const told of linesOf(response)) {
        if ("event" in told) return { text, exit: told.exit_code, lost };
        text += Buffer.from(told.data_b64, "base64").toString();
        lost += told.lost_bytes ?? 0;
        if (until !== undefined && text.includes(until)) break;
      }
      return { text, exit: undefined, lost };
    },
  };
};
