/** A viewer of the live view without a page: a WebSocket that keeps what it gets. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { eventually } from "./eventually.ts";

type SeenPicture = { number: number; width: number; height: number; jpeg: Buffer };
type Told = { type: string; tabs?: { id: string; title: string; url: string }[]; shown?: string | null } & {
  state?: string;
  text?: string;
  read_only?: boolean;
  dialog?: { kind: string; message: string } | null;
  ask?: { kind: string } | null;
};

export type ViewerSocket = {
  socket: WebSocket;
  send(message: object): void;
  /** The latest message of a type. */
  told(type: string): Told | undefined;
  /** The kinds of all asks so far. */
  asks(): string[];
  pictures(): number;
  latest(): SeenPicture | undefined;
  /** Resolves with the next picture. */
  nextPicture(): Promise<SeenPicture>;
  /** The code and the reason of the close. */
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
};

const pictureOf = (data: Buffer): SeenPicture => ({
  number: data.readUInt32BE(0),
  width: data.readUInt16BE(4),
  height: data.readUInt16BE(6),
  jpeg: data.subarray(8),
});

export const socketUrlOf = (liveViewUrl: string): string => liveViewUrl.replace(/^http/, "ws");

/** Connects to the view at this URL. Rejects when it is refused. `acks`: whether it acknowledges pictures at once. */
export const openViewer = async (liveViewUrl: string, { acks = true } = {}): Promise<ViewerSocket> => {
  const socket = new WebSocket(socketUrlOf(liveViewUrl), { perMessageDeflate: false });
  const told = new Map<string, Told>();
  const asks: string[] = [];
  let count = 0;
  let latest: SeenPicture | undefined;
  let next = Promise.withResolvers<SeenPicture>();
  const send = (message: object): void => socket.send(JSON.stringify(message));
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) {
      const message = JSON.parse(String(data)) as Told;
      if (message.ask) asks.push(message.ask.kind);
      return void told.set(message.type, message);
    }
    count += 1;
    latest = pictureOf(data);
    next.resolve(latest);
    next = Promise.withResolvers();
    if (acks) send({ type: "ack", frame: latest.number });
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
  );
  const opened = await Promise.race([once(socket, "open"), closed]);
  if (!Array.isArray(opened)) throw new Error("the view was refused");
  return {
    socket,
    send,
    told: (type) => told.get(type),
    asks: () => asks,
    pictures: () => count,
    latest: () => latest,
    nextPicture: () => next.promise,
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
};

/** Resolves when the viewer sees a tab with this title, with the tab's id. */
export const untilTab = (viewer: ViewerSocket, title: string): Promise<string> =>
  eventually(`the viewer sees a tab ${title}`, async () => {
    const found = viewer.told("tabs")?.tabs?.find((tab) => tab.title === title);
    return found?.id ?? false;
  });
