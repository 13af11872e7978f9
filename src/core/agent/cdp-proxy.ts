import { connect } from "node:net";
import { refusals } from "./agent-reply.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import { joinServer } from "./join-server.ts";
import type { ServeUpgrade } from "./upgrades.ts";

/** `GET /cdp` becomes a raw connection to Chromium's DevTools. Frames are not looked at. */
export const createCdpProxy =
  ({ devTools: placeNow }: { devTools(): DevToolsPlace }): ServeUpgrade =>
  (upgrade) => {
    const place = placeNow();
    const devTools = connect({ ...place.at, noDelay: true });
    const failed = (): void => upgrade.refuse(refusals.browser_unhealthy);
    devTools.once("error", failed);
    upgrade.client.once("close", () => devTools.destroy());
    devTools.once("connect", () => {
      devTools.off("error", failed);
      devTools.on("error", () => devTools.destroy());
      void joinServer(upgrade, devTools, place);
    });
  };
