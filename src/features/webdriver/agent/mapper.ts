/** chromium-bidi's mapper, which carries out commands of WebDriver BiDi over CDP. */
import { BidiServer } from "chromium-bidi/out/Default/gen/src/bidiMapper/BidiServer.js";
import type { BidiTransport } from "chromium-bidi/out/Default/gen/src/bidiMapper/BidiTransport.js";
import { BidiParser } from "chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js";
import { MapperCdpConnection } from "chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js";
import type { WebSocket } from "ws";
import { z } from "zod";
import type { Command, Message } from "./command.ts";

// Answers `browsingContext.create` when the new tab is as the client has set up its session. The mapper answers as soon
// as the tab has loaded, some milliseconds before it has told the browser of intercepts: a navigation that follows at
// once would not be held by them.
//
//   answer of create ──► `script.evaluate` in the tab, which the mapper carries out once the tab is set up ──► the answer goes on

type ReadyTabs = {
  /** A command that is given to the mapper. */
  given(command: Command): void;
  /** An answer or event of the mapper. */
  tell(message: Message): void;
};

const Created = z.object({ type: z.literal("success"), result: z.object({ context: z.string() }) });

/** The first id of its own commands, downwards: none of a client's, nor the one by which a session is opened. */
const firstOwnId = -2;

/**
 * `run`: gives a command to the mapper. `tell`: takes each message that is for others, in their order but for answers
 * that wait.
 */
const createReadyTabs = ({ run, tell }: { run(command: Command): void; tell(message: Message): void }): ReadyTabs => {
  const creating = new Set<unknown>();
  const waiting = new Map<unknown, Message>();
  let ownId = firstOwnId;
  return {
    given({ id, method }) {
      if (method === "browsingContext.create") creating.add(id);
    },
    tell(message) {
      const answer = waiting.get(message.id);
      if (answer) {
        waiting.delete(message.id);
        // Also when the tab is gone by now: it was created.
        return tell(answer);
      }
      if (message.type === "event" || !creating.delete(message.id)) return tell(message);
      const { success, data } = Created.safeParse(message);
      if (!success) return tell(message);
      waiting.set(ownId, message);
      run({
        id: ownId,
        method: "script.evaluate",
        params: { expression: "0", awaitPromise: false, target: { context: data.result.context } },
      });
      ownId -= 1;
    },
  };
};

export type Mapper = {
  /** Begins to carry out a command. Its answer comes with its id among the messages. */
  run(command: Command): void;
};

/** Starts it over a connection to the browser. `onMessage`: is called with every answer and event. */
export const startMapper = async (devTools: WebSocket, onMessage: (message: Message) => void): Promise<Mapper> => {
  const cdp = new MapperCdpConnection({
    setOnMessage: (handle) => devTools.on("message", (data: Buffer) => void handle(data.toString())),
    sendMessage: (text) => devTools.send(text),
    close: () => devTools.terminate(),
  });
  let handle: Parameters<BidiTransport["setOnMessage"]>[0] = () => undefined;
  // The mapper reads a command as a client has sent it, and says itself what is wrong with it.
  const run = (command: Command): void => void handle(command as Parameters<typeof handle>[0]);
  const tabs = createReadyTabs({ run, tell: onMessage });
  const client: BidiTransport = {
    setOnMessage: (given) => {
      handle = given;
    },
    sendMessage: (message) => tabs.tell(message as Message),
    close: () => undefined,
  };
  // It has no tab of its own in the browser, so it must hide none.
  const noTab = "";
  await BidiServer.createAndStart(client, cdp, await cdp.createBrowserSession(), noTab, new BidiParser());
  return {
    run(command) {
      tabs.given(command);
      run(command);
    },
  };
};
