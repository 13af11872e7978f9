/** `GET /webdriver`: WebDriver BiDi. Each connection has a process of its own, from the upgrade to the connection's end. */

import { refusal, refusals } from "../../../core/agent/agent-reply.ts";
import { type DevToolsPlace, devToolsUrl } from "../../../core/agent/connect-dev-tools.ts";
import { joinServer } from "../../../core/agent/join-server.ts";
import type { ServeUpgrade } from "../../../core/agent/upgrades.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { startBidiProcess } from "./bidi-process.ts";
import { devToolsHeader } from "./process-contract.ts";

/** Connections of one browser at a time: each costs a process of about 90 MB. */
const maxConnections = 8;

/** Time for the process to start and to reach Chromium, ms: 0.4 s on a quiet machine. */
const answerMs = 20_000;

const tooMany = refusal("too_many_requests", `a session has ${maxConnections} connections for WebDriver BiDi at most`);

/** Serves WebDriver BiDi over the browser's DevTools. */
export const createBidiServer = ({
  browser,
  log,
}: {
  browser: { devTools(): DevToolsPlace };
  log: Logger;
}): ServeUpgrade => {
  let running = 0;
  return async (upgrade) => {
    if (running >= maxConnections) return upgrade.refuse(tooMany);
    const url = devToolsUrl(browser.devTools());
    const { socket, ended, kill } = startBidiProcess();
    running += 1;
    void ended.then((how) => {
      running -= 1;
      socket.destroy();
      if (how !== "0" && how !== "SIGKILL") log.warn({ how }, "a process for WebDriver BiDi has failed");
    });
    upgrade.client.once("close", kill);
    const place = { path: "/", headers: { [devToolsHeader]: url }, timeoutMs: answerMs };
    await joinServer(upgrade, socket, place, refusals.browser_unhealthy);
  };
};
