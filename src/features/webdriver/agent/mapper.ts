/** chromium-bidi's mapper, which carries out commands of WebDriver BiDi over CDP. */
import { BidiServer } from "chromium-bidi/out/Default/gen/src/bidiMapper/BidiServer.js";
import type { BidiTransport } from "chromium-bidi/out/Default/gen/src/bidiMapper/BidiTransport.js";
import { BidiParser } from "chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js";
import { MapperCdpConnection } from "chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js";
import type { WebSocket } from "ws";
import type { Command, Message } from "./command.ts";
import { createReadyTabs } from "./ready-tabs.ts";

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
