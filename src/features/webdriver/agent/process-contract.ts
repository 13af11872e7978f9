/** What the agent and a process for WebDriver BiDi agree on. */

/** The descriptor on which the process has its socket to the agent. */
export const socketFd = 3;

/** The header of the upgrade on it that says where the browser's DevTools are. Others could read an argument. */
export const devToolsHeader = "x-browserpool-devtools";

/** The header that says, in JSON, what becomes of a page's dialogs where the client opens no session itself. */
export const promptsHeader = "x-browserpool-prompts";
