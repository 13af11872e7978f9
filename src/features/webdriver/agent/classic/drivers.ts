/**
 * The sessions of WebDriver over HTTP that a lease has, each with a driver of its own:
 *
 *   POST session ──► capabilities ──► a driver starts and attaches ──► commands ──► DELETE session ──► it is killed
 *                                                                         │
 *                            the lease, the browser or the driver ends ───┘──► no such session
 */
import { CallRefused } from "../../../../core/agent/call-routes.ts";
import { type CommandAnswer, commandMs, mostAnswerBytes } from "../../calls.ts";
import { errorAnswer, type WebDriverAnswer } from "../../webdriver-answer.ts";
import { whyNoTimeouts } from "./capabilities.ts";
import { whyNoCommand } from "./commands.ts";
import { AnswerTooLate, AnswerTooLong, asAnswer, type Driver } from "./driver.ts";
import { type OpenDeps, openSession } from "./open-session.ts";

/** Sessions of one browser at a time: each costs a process of some 25 MB. */
const mostSessions = 4;

/** Commands that a driver has to carry out, and those that wait in it, also when nobody waits for their answers. */
const mostCommands = 16;

/** Time for a driver to let go of the browser, ms. */
const leaveMs = 5000;

type Asked = { method: string; path: string; body?: Record<string, unknown> | undefined };

/** `isWanted`: whether the caller is still there. */
export type Drivers = {
  run(command: Asked, isWanted: () => boolean): Promise<CommandAnswer>;
  /** What becomes of dialogs on a connection of WebDriver BiDi, by the newest session that asked for one. */
  bidiPrompts(): object | undefined;
};

type Session = { id: string; driver: Driver; commands: number; bidiPrompts: object | undefined };

const noSession = (id: string): WebDriverAnswer =>
  errorAnswer("invalid session id", `there is no session ${id.slice(0, 64)}, or it has ended`);

const noCommand = (path: string): WebDriverAnswer =>
  errorAnswer("unknown command", `${path.slice(0, 200)}: there is no such command here`);

const full = `the browser has ${mostSessions} sessions of WebDriver already`;

const close = async ({ id, driver }: Session): Promise<WebDriverAnswer> => {
  // It takes back what it has set in the browser. Whether it answers or not, it ends.
  await driver.send({ method: "DELETE", path: `/session/${id}` }, leaveMs).catch(() => undefined);
  await driver.end();
  return { status: 200, body: { value: null } };
};

const pass = async (session: Session, { method, path, body = {} }: Asked): Promise<WebDriverAnswer> => {
  const { id, driver } = session;
  if (session.commands >= mostCommands)
    return errorAnswer("unknown error", `${mostCommands} commands of this session are under way already`);
  session.commands += 1;
  try {
    const sent = { method, path: `/${path}`, ...(method === "POST" && { body }) };
    return asAnswer(await driver.send(sent, commandMs));
  } catch (error) {
    if (error instanceof AnswerTooLong)
      return errorAnswer("unknown error", `the answer is longer than ${mostAnswerBytes} bytes`);
    await driver.end();
    return error instanceof AnswerTooLate
      ? errorAnswer("timeout", `no answer within ${commandMs / 1000} s; the session has ended`)
      : noSession(id);
  } finally {
    session.commands -= 1;
  }
};

const runIn = async (session: Session, rest: string, command: Asked): Promise<WebDriverAnswer> => {
  const { method, body } = command;
  if (rest === "" && method === "DELETE") return close(session);
  const refused = whyNoCommand(method, rest) ?? (rest === "timeouts" ? whyNoTimeouts(body) : undefined);
  return refused ?? pass(session, command);
};

/** Of one lease: what it starts ends with `signal`. */
export const createDrivers = (deps: OpenDeps): Drivers => {
  const { signal } = deps;
  const sessions = new Map<string, Session>();
  let opening = 0;
  const isFull = (): boolean => sessions.size + opening >= mostSessions;

  const open = async (body: unknown, isWanted: () => boolean): Promise<CommandAnswer> => {
    if (isFull()) return errorAnswer("session not created", full, { data: { code: "too_many_requests" } });
    opening += 1;
    try {
      const opened = await openSession(body, deps);
      if ("refused" in opened) return opened.refused;
      const { id, driver, asksBidi, bidiPrompts } = opened;
      sessions.set(id, { id, driver, commands: 0, bidiPrompts });
      void driver.ended.then(() => sessions.delete(id));
      // Nobody else knows of it.
      if (!isWanted()) await driver.end();
      return { status: 200, body: opened.body, session: { asksBidi } };
    } catch (error) {
      if (signal.aborted) throw new CallRefused("not_found", "the session is over", { cause: error });
      throw error;
    } finally {
      opening -= 1;
    }
  };

  const status = (): WebDriverAnswer => {
    const message = isFull() ? full : "a session can be made";
    return { status: 200, body: { value: { ready: !isFull(), message } } };
  };

  return {
    bidiPrompts: () => [...sessions.values()].findLast((session) => session.bidiPrompts)?.bidiPrompts,
    async run(command, isWanted) {
      const { method, path, body } = command;
      if (path === "status") return method === "GET" ? status() : errorAnswer("unknown method", "status takes GET");
      if (path === "session")
        return method === "POST" ? open(body, isWanted) : errorAnswer("unknown method", "session takes POST");
      const [, id, rest = ""] = /^session\/([^/]+)(?:\/(.+))?$/s.exec(path) ?? [];
      if (id === undefined) return noCommand(path);
      const session = sessions.get(id);
      return session ? runIn(session, rest, command) : noSession(id);
    },
  };
};
