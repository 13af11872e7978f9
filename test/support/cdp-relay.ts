import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import type { CdpAddress } from "../../src/platform/cdp/cdp-socket.ts";

/** A command as the client sent it. */
export type SentCommand = {
  id: number;
  method: string;
  params?: { functionDeclaration?: string; arguments?: { value?: unknown }[] };
};

type CdpRelay = {
  /** The address to connect to. */
  connect: CdpAddress;
  /** The commands and answers that passed, as text. */
  sent: string[];
  received: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

type RelayOptions = {
  /** Text to send before each of the browser's messages. */
  nonsense?: string;
  /** Runs to its end before the relay passes a command on. */
  before?: (command: SentCommand) => Promise<unknown> | undefined;
};

/** A relay to a browser that keeps every message and can interfere. */
export const startCdpRelay = async (to: CdpAddress, { nonsense, before }: RelayOptions = {}): Promise<CdpRelay> => {
  const sent: string[] = [];
  const received: string[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (near) => {
    const far = new WebSocket(to.url, { headers: to.headers });
    let passedOn: Promise<unknown> = once(far, "open");
    near.on("message", (data) => {
      const text = String(data);
      sent.push(text);
      passedOn = passedOn.then(() => before?.(JSON.parse(text) as SentCommand)).then(() => far.send(text));
    });
    far.on("message", (data) => {
      received.push(String(data));
      if (nonsense !== undefined) near.send(nonsense);
      near.send(String(data));
    });
    near.on("close", () => far.close());
    far.on("close", () => near.close());
  });
  await once(server, "listening");
  return {
    sent,
    received,
    connect: { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {} },
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
