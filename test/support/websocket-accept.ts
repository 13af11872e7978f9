import { createHash } from "node:crypto";

/** The `Sec-WebSocket-Accept` that answers this key (RFC 6455, 4.2.2). */
export const websocketAccept = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
