import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { noBodies, tell } from "../../../platform/cdp/commands.ts";

/** Has the page of this session tell its events; may be repeated. */
export const enableEvents = (cdp: Pick<CdpConnection, "send">, sessionId: string): void => {
  tell(cdp.send("Page.enable", undefined, { sessionId }));
  tell(cdp.send("Network.enable", noBodies, { sessionId }));
};
