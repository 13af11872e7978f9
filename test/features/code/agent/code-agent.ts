/** An agent with a session, whose holder runs code beside the browser. */
import { join } from "node:path";
import { type BrowserConfig, sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import type { StartOptions, TestAgent, TestAgents } from "../../../support/agent-process.ts";
import { runningIn } from "../../../support/agent-process.ts";

/** What a call answers: the feature's value, or a refusal. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = any;

export type CodeAgent = {
  agent: TestAgent;
  /** Where code sees the files of the session. */
  files: string;
  /** A call of this session's holder. */
  call(method: string, path: string, body?: object, session?: string): Promise<{ status: number; body: Answered }>;
  /** The value of code that an executor runs. */
  execute(code: string, more?: { executor?: string; timeout_sec?: number }): Promise<Answered>;
  repl(code: string, more?: { reset?: boolean; timeout_sec?: number }): Promise<Answered>;
  /** Processes of executors that run. */
  executors(): number[];
};

/** In a pod, the agent's view of the machine is that of code, too; in local mode code has its own. */
export const places = ["pod", "local mode"] as const;

export const startCodeAgent = async (
  agents: TestAgents,
  place: (typeof places)[number],
  { browser, ...options }: StartOptions & { browser?: Partial<BrowserConfig> } = {},
): Promise<CodeAgent> => {
  const own = place === "pod" ? {} : { BROWSERPOOL_OWN_PORTS: "" };
  const agent = await agents.start(browser, { ...options, env: { ...own, ...options.env } });
  const ofBrowser = agent.groups();
  const tokens = createAgentTokens(agent.privateKey);
  const call: CodeAgent["call"] = async (method, path, body, session = "s-1") => {
    const response = await fetch(`${agent.baseUrl}/calls/${path}`, {
      method,
      headers: { authorization: `Bearer ${tokens.tokenFor(agent.podUid)}`, [sessionHeader]: session },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const answerOf = async (answer: ReturnType<typeof call>): Promise<Answered> => {
    const { status, body } = await answer;
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body.answer;
  };
  await agent.bind("s-1", 1);
  return {
    agent,
    files: place === "pod" ? join(agent.dir, "tmp") : "/tmp",
    call,
    execute: (code, options) => answerOf(call("POST", "playwright/execute", { code, ...options })),
    repl: (code, options) => answerOf(call("POST", "repl", { code, ...options })),
    executors: () => runningIn(agent.groups().filter((group) => !ofBrowser.includes(group))),
  };
};
