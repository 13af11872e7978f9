import type { CdpConnection } from "../../cdp/cdp-connection.ts";
import { noBodies, tell } from "../../cdp/commands.ts";

/** Has the page of this session tell its events; may be repeated. */
export const enableEvents = (cdp: Pick<CdpConnection, "send">, sessionId: string): void => {
  tell(cdp.send("Page.enable", undefined, { sessionId }));
  tell(cdp.send("Network.enable", noBodies, { sessionId }));
};
