/** An agent with a session, whose holder sends commands of WebDriver. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../../src/local/required-program.ts";
import { runningIn, type StartOptions, type TestAgent, type TestAgents } from "../../../support/agent-process.ts";

/** What a command comes to: of WebDriver, or the agent's refusal of the call. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = { status: number; value: any; session?: { asksBidi: boolean } };

export type DriverAgent = {
  agent: TestAgent;
  /** A command of this session's holder. */
  run(method: string, path: string, body?: object, session?: string): Promise<Answered>;
  /** Opens a session of WebDriver; returns the path of its commands. */
  open(capabilities?: object): Promise<string>;
  /** A command whose caller hangs up as soon as it is sent. */
  sendAndLeave(command: object): Promise<void>;
  /** Writes a file of the session. */
  put(path: string, text: string): Promise<void>;
  /** Processes of drivers that run. */
  drivers(): number[];
  /** The drivers themselves, without what is around them. */
  chromedrivers(): number[];
};

/** In a pod a driver sees the agent's files; in local mode it has its own. */
export const places = ["pod", "local mode"] as const;

export const startDriverAgent = async (
  agents: TestAgents,
  place: (typeof places)[number],
  { chromedriver = true, ...options }: StartOptions & { chromedriver?: boolean } = {},
): Promise<DriverAgent> => {
  const own = place === "pod" ? {} : { BROWSERPOOL_OWN_PORTS: "" };
  const program = chromedriver && { BROWSERPOOL_CHROMEDRIVER: requiredProgram(locatePrograms(), "chromedriver") };
  const agent = await agents.start({}, { ...options, env: { ...own, ...program, ...options.env } });
  const ofBrowser = agent.groups();
  const tokens = createAgentTokens(agent.privateKey);
  const headersOf = (session = "s-1"): Record<string, string> => ({
    authorization: `Bearer ${tokens.tokenFor(agent.podUid)}`,
    [sessionHeader]: session,
  });
  const run: DriverAgent["run"] = async (method, path, body, session) => {
    const response = await fetch(`${agent.baseUrl}/calls/webdriver`, {
      method: "POST",
      headers: headersOf(session),
      body: JSON.stringify({ method, path, ...(body && { body }) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const said = (await response.json()) as any;
    if (response.status !== 200) return { status: response.status, value: said };
    const { status, body: answered, ...rest } = said.answer;
    return { status, value: answered.value, ...rest };
  };
  const drivers = (): number[] => runningIn(agent.groups().filter((group) => !ofBrowser.includes(group)));
  await agent.bind("s-1", 1);
  return {
    agent,
    run,
    async open(alwaysMatch = {}) {
      const { status, value } = await run("POST", "session", { capabilities: { alwaysMatch } });
      if (status !== 200) throw new Error(JSON.stringify(value));
      return `session/${value.sessionId}`;
    },
    async sendAndLeave(command) {
      const sent = request(`${agent.baseUrl}/calls/webdriver`, { method: "POST", headers: headersOf() });
      sent.on("error", () => undefined);
      await new Promise<void>((resolve) => sent.end(JSON.stringify(command), resolve));
      sent.destroy();
    },
    async put(path, text) {
      const response = await fetch(`${agent.baseUrl}/calls/${path}`, {
        method: "PUT",
        headers: headersOf(),
        body: text,
      });
      if (!response.ok) throw new Error(await response.text());
    },
    drivers,
    chromedrivers: () => drivers().filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8") === "chromedriver\n"),
  };
};
