/** Descriptors, bounds and orders that agent and executor share: the executor loads nothing else of the agent. */

/** Lines of messages to the agent. */
export const messagesFd = 3;

/** Raw bytes of CDP: a WebSocket, from its upgrade on. */
export const cdpFd = 4;

/** Most that is kept of each of a call's streams, characters. */
export const mostOutputChars = 1024 * 1024;

/** Longest JSON of what code returns, characters. */
export const mostResultChars = 8 * 1024 * 1024;

/** Most images of one call. */
export const mostImages = 4;

/** Longest of them, in base64. */
export const mostImageChars = 2 * 1024 * 1024;

/** First of all. `downloads`: the folder for those of new contexts. */
export type ExecutorStart = { downloads: string };

/** `tab`: the target that `page` is; left out, a new tab is opened. `mode`: how the code is read. */
export type ExecutorOrder = { id: number; mode: "function" | "repl"; code: string; tab?: string };
