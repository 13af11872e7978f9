import type { WebSocket } from "ws";
import type { ViewMessage } from "./view-message.ts";

/**
 * What waits to be sent to one viewer: the newest message of each type, and nothing else. So a viewer that does not read costs one
 * message of each type, and gets the newest ones when it reads again.
 */
type Outbox = {
  /** Sends the message as soon as the socket has room, unless a newer one of its type comes before. */
  put(message: ViewMessage): void;
  /** Sends a picture now. Only when `isDrained`. */
  sendPicture(picture: Buffer): void;
  /** Whether all that was sent has left this process, and nothing waits. */
  isDrained(): boolean;
};

/** `onDrained`: called when the socket has room again. */
export const createOutbox = (socket: WebSocket, onDrained: () => void): Outbox => {
  const waiting = new Map<ViewMessage["type"], ViewMessage>();
  let isSending = false;
  const send = (data: string | Buffer): void => {
    isSending = true;
    socket.send(data, (error) => {
      isSending = false;
      // The socket's end is told of by its own event.
      if (error) return;
      sendNext();
      if (!isSending) onDrained();
    });
  };
  const sendNext = (): void => {
    const [next] = waiting.values();
    if (isSending || !next) return;
    waiting.delete(next.type);
    send(JSON.stringify(next));
  };
  return {
    put(message) {
      // At its end, so that one type's flood keeps no other waiting.
      waiting.delete(message.type);
      waiting.set(message.type, message);
      sendNext();
    },
    sendPicture: send,
    isDrained: () => !isSending && waiting.size === 0,
  };
};
