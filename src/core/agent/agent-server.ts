import type { KeyObject } from "node:crypto";
import { connect } from "node:net";
import type { Logger } from "../../platform/base/log.ts";
import type { LeaseEnd } from "../protocol/agent-api.ts";
import type { UpgradePath } from "../protocol/agent-proof.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type AgentServer, ok, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusal, refusals } from "./agent-reply.ts";
import type { Browser } from "./browser.ts";
import { changeRoutes } from "./change-routes.ts";
import { joinServer } from "./join-server.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { leaseRoutes } from "./lease-routes.ts";
import { type ClientWatch, createUpgrades, type ServeUpgrade } from "./upgrades.ts";

/** `GET /cdp` becomes a raw connection to Chromium's DevTools. Frames are not looked at. */
export const createCdpProxy =
  ({ devTools: placeNow, takeDownloads }: Pick<Browser, "devTools" | "takeDownloads">): ServeUpgrade =>
  (upgrade) => {
    const place = placeNow();
    const devTools = connect({ ...place.at, noDelay: true });
    const failed = (): void => upgrade.refuse(refusals.browser_unhealthy);
    devTools.once("error", failed);
    upgrade.client.once("close", () => devTools.destroy());
    // Chromium forgets where downloads go when the connection ends that said so, whoever said it before.
    devTools.once("close", () => setTimeout(takeDownloads, forgetMs).unref());
    devTools.once("connect", () => {
      devTools.off("error", failed);
      devTools.on("error", () => devTools.destroy());
      void joinServer(upgrade, devTools, place);
    });
  };

/** Time for Chromium to notice that a client's connection has ended, ms. */
const forgetMs = 200;

/** Time for one request, ms: as long as the API takes for the upload of a file. */
const requestTimeoutMs = 60 * 60_000;

type AgentServerDeps = {
  address: string;
  port: number;
  verify: VerifyAgentToken;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
  leases: LeaseKeeper;
  browser: Pick<Browser, "devTools" | "isHealthy" | "takeDownloads" | "version">;
  /** What features serve beside CDP, by its path. */
  upgrades: Readonly<Record<Exclude<UpgradePath, "/cdp">, ServeUpgrade>>;
  /** Left out, nobody is told of clients. */
  watch?: ClientWatch | undefined;
  /** Where archives of a holder's change are kept; left out, the browser can't be changed. */
  changeArchives?: string;
  /** Further calls. */
  routes?: Routes;
  /** Why the browser has ended, while the agent serves on. */
  ended?: () => LeaseEnd | undefined;
  log: Logger;
};

const createRoutes = ({
  leases,
  browser,
  changeArchives,
  agentKey,
  upgrades,
  routes,
  ended = () => undefined,
}: AgentServerDeps): Routes => ({
  "/livez": { GET: async () => ok },
  // A reset is no reason to take the pod out of service: it has a deadline of its own, and the browser ends when it
  // fails.
  "/readyz": {
    GET: async () =>
      leases.isStarting() || leases.state().resetting || (await browser.isHealthy()) ? ok : refusals.browser_unhealthy,
  },
  ...leaseRoutes(leases, () => {
    const [chromium, why] = [browser.version(), ended()];
    return { ...(chromium && { chromium }), ...(why && { ended: why }) };
  }),
  ...(changeArchives !== undefined && changeRoutes({ leases, agentKey, folder: changeArchives })),
  ...Object.fromEntries(["/cdp", ...Object.keys(upgrades)].map((path) => [path, { GET: upgradeRequired }])),
  ...routes,
});

const upgradeRequired = async (): Promise<AgentReply> =>
  refusal("upgrade_required", "only a WebSocket upgrade is taken here");

/** Serves a browser that is up (src/core/protocol/agent-api.ts). Rejects when it cannot listen. */
export const startAgentServer = (deps: AgentServerDeps): Promise<AgentServer> => {
  const { agentKey, leases, browser, upgrades, watch } = deps;
  const paths = { "/cdp": createCdpProxy(browser), ...upgrades };
  const upgrade = createUpgrades({ leases, agentKey, paths, watch });
  return startAgentHttp({ ...deps, routes: createRoutes(deps), upgrade, requestTimeoutMs });
};
