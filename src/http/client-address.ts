import type { IncomingMessage } from "node:http";
import type { Config } from "../config.ts";

/** The address of a request's client; `unknown` when the connection is gone. */
export const clientAddress = (
  { socket }: Pick<IncomingMessage, "headers" | "socket">,
  _config: Pick<Config, "allowedHosts">,
): string => socket.remoteAddress ?? "unknown";
