/** What several connections to a browser do with their commands. */

/** For a command whose answer nobody needs: what it is for may be gone. */
export const tell = (answer: Promise<unknown>): void => void answer.catch(() => undefined);

/** Parameters of `Network.enable`: the browser keeps no bodies for this connection. */
export const noBodies = { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 };
