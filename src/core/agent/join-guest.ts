/** Programs beside the browser that are clients of CDP: code of the holder, and drivers. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createCdpProxy } from "./agent-server.ts";
import type { Browser } from "./browser.ts";
import { CallRefused } from "./call-routes.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { ClientKind, ClientWatch } from "./upgrades.ts";

export type GuestDeps = {
  browser: Pick<Browser, "devTools" | "takeDownloads">;
  /** Of the lease that is held. */
  admit: LeaseKeeper["admit"];
  watch: Pick<ClientWatch, "client">;
};

/** The upgrade of a program. */
type GuestUpgrade = { request: Pick<IncomingMessage, "headers">; client: Socket; head: Buffer };

/**
 * Joins a program with the browser as the server does a client of CDP: it is refused where a client is, cut with them,
 * and noted. Idle, it keeps no lease in use. Throws a `CallRefused`.
 */
export const joinGuest = async (
  { request, client, head }: GuestUpgrade,
  { session, kind }: { session: string; kind: ClientKind },
  { browser, admit, watch }: GuestDeps,
): Promise<void> => {
  const admitted = admit(session, client, "glance");
  if (admitted === "too_many") throw new CallRefused("too_many_requests", "the session has too many open connections");
  if (admitted !== "admitted")
    throw new CallRefused("conflict", "the browser is being changed, or its session is over");
  await watch.client(kind, client, head);
  const refuse = (): void => void client.destroy();
  await createCdpProxy(browser)({ request: request as IncomingMessage, client, head, prove: () => undefined, refuse });
};
