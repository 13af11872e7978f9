import type { CdpConnection } from "../../cdp/cdp-connection.ts";

/** Pages have the browser keep no bodies for DevTools. */
const network = { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 };

/** A command whose answer nobody needs: what it is for may be gone. */
const tell = (answer: Promise<unknown>): void => void answer.catch(() => undefined);

/** Has the page of this session tell its events; may be repeated. */
export const enableEvents = (cdp: Pick<CdpConnection, "send">, sessionId: string): void => {
  tell(cdp.send("Page.enable", undefined, { sessionId }));
  tell(cdp.send("Network.enable", network, { sessionId }));
};
