/**
 * The session of WebDriver BiDi on one connection.
 *
 *   none ──session.new, or any command but session.status and session.end──► open ──session.end──► ended
 *
 * The URL names a session of the service, so a client that sends a command without `session.new`, as those do that
 * attach to a session, means it: a session of BiDi with no capabilities is opened then.
 */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type Command, failure, type Message, success } from "./command.ts";
import type { Mapper } from "./mapper.ts";

// What a client asks for with `session.new`, matched with the one browser that there is.

const maxAlternatives = 64;

const Capabilities = z.looseObject({
  acceptInsecureCerts: z.boolean().optional(),
  browserName: z.string().optional(),
  platformName: z.string().optional(),
  unhandledPromptBehavior: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
type Capabilities = z.infer<typeof Capabilities>;

const Request = z.object({
  capabilities: z.object({
    alwaysMatch: Capabilities.default({}),
    firstMatch: z.array(Capabilities).min(1).max(maxAlternatives).default([{}]),
  }),
});

const browserNames = ["chrome", "chromium", "chrome-headless-shell"];

const whyNot = ({ browserName, platformName, ...rest }: Capabilities): string | undefined => {
  if (browserName !== undefined && !browserNames.includes(browserName.toLowerCase())) return "the browser is chrome";
  if (platformName !== undefined && !["linux", "any"].includes(platformName.toLowerCase()))
    return "the platform is linux";
  // To say yes and to set none would have the client believe in it.
  return "proxy" in rest ? "the browser runs already; browser.createUserContext takes a proxy" : undefined;
};

type Matched = { capabilities: Capabilities } | { refused: "invalid argument" | "session not created"; why: string };

/** The first alternative that this browser can be, or why none is. */
const matchCapabilities = (params: unknown): Matched => {
  const parsed = Request.safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { refused: "invalid argument", why: `${issue?.path.join(".")}: ${issue?.message}` };
  }
  const { alwaysMatch, firstMatch } = parsed.data.capabilities;
  let why = "";
  for (const alternative of firstMatch) {
    const twice = Object.keys(alternative).find((name) => Object.hasOwn(alwaysMatch, name));
    if (twice) return { refused: "invalid argument", why: `${twice} is in alwaysMatch and in firstMatch` };
    const capabilities = { ...alwaysMatch, ...alternative };
    const refused = whyNot(capabilities);
    if (!refused) return { capabilities };
    why ||= refused;
  }
  return { refused: "session not created", why };
};

/**
 * Commands that may be under way. Each has something in memory until it is answered, and a page can keep one waiting
 * for ever.
 */
const maxUnanswered = 1024;

/** The id of the command by which the mapper's session is opened: none of a client's. */
const openingId = -1;

export type BidiSession = {
  take(command: Command): void;
  /** What the mapper says. */
  tell(message: Message): void;
};

type BidiSessionDeps = {
  mapper: Mapper;
  /** Sends to the client. */
  send(message: Message): void;
  /** What a session has that is opened without `session.new`; left out, no capabilities. */
  usual?: Capabilities;
  /** The session is over: closes the connection after what was sent. */
  end(why: string): void;
};

const Opened = z.object({
  type: z.literal("success"),
  result: z.object({ capabilities: z.looseObject({ browserName: z.string() }) }),
});

/** The mapper names the browser by its product (`HeadlessChrome/156.0.1.2`) and knows no URL. */
const capabilitiesOf = ({ result }: z.infer<typeof Opened>): Message => {
  const { webSocketUrl: _, browserName, ...capabilities } = result.capabilities;
  return { ...capabilities, browserName: "chrome", browserVersion: browserName.split("/")[1], platformName: "linux" };
};

/** Nothing is asked of the browser before the first command. */
export const createBidiSession = ({ mapper, send, end, usual = {} }: BidiSessionDeps): BidiSession => {
  let opening: Promise<Message | undefined> | undefined;
  let opened: ((message: Message) => void) | undefined;
  let unanswered = 0;

  /**
   * Resolves with the session's capabilities; undefined when the browser could not be prepared, which ends the
   * connection.
   */
  const open = async (asked: Message): Promise<Message | undefined> => {
    const answer = Promise.withResolvers<Message>();
    opened = answer.resolve;
    mapper.run({ id: openingId, method: "session.new", params: { capabilities: { alwaysMatch: asked } } });
    const { success: isOpen, data } = Opened.safeParse(await answer.promise);
    if (!isOpen) end("no session could be opened in the browser");
    return data && capabilitiesOf(data);
  };
  const openByCommand = async (command: Command): Promise<void> => {
    if (opening !== undefined)
      return send(failure(command, "session not created", "this connection has a session already"));
    const matched = matchCapabilities(command.params);
    if ("refused" in matched) return send(failure(command, matched.refused, matched.why));
    opening = open(matched.capabilities);
    const capabilities = await opening;
    send(
      capabilities
        ? success(command, { sessionId: randomUUID(), capabilities })
        : failure(command, "session not created", "the browser could not be prepared"),
    );
  };
  const run = async (command: Command): Promise<void> => {
    opening ??= open(usual);
    if (!(await opening)) return;
    if (unanswered >= maxUnanswered)
      return send(failure(command, "unknown error", `${maxUnanswered} commands are under way already`));
    unanswered += 1;
    mapper.run(command);
  };
  const status = (): Message =>
    opening !== undefined
      ? { ready: false, message: "this connection has a session" }
      : { ready: true, message: "this connection has no session yet" };

  return {
    take(command) {
      if (command.method === "session.status") return send(success(command, status()));
      if (command.method === "session.new") return void openByCommand(command);
      if (command.method !== "session.end") return void run(command);
      if (opening === undefined) return send(failure(command, "invalid session id", "this connection has no session"));
      send(success(command, {}));
      end("the session was ended");
    },
    tell(message) {
      if (message.id === openingId) return opened?.(message);
      if (message.type !== "event") unanswered -= 1;
      // It names files of this program.
      const { stacktrace: _, ...told } = message;
      send(told);
    },
  };
};
