import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Logger } from "../../platform/base/log.ts";
import { BindLease, EndLease, Epoch, type LeaseEnd } from "../protocol/agent-api.ts";
import type { UpgradePath } from "../protocol/agent-proof.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type AgentServer, ok, parseBody, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusal, refusals } from "./agent-reply.ts";
import type { Browser } from "./browser.ts";
import { changeRoutes } from "./change-routes.ts";
import { joinServer } from "./join-server.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { createStepTimes, type StepTimes } from "./step-times.ts";
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

/**
 * The largest body that is read. Most leases take a few hundred bytes; the longest request takes up to three bytes a
 * character.
 */
const maxBodyBytes = 512 * 1024;

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
}: AgentServerDeps): Routes => {
  const state = (times?: StepTimes): AgentReply => ({
    status: 200,
    body: { ...leases.state(), ...(times && { timings: times.told() }) },
  });
  return {
    "/livez": { GET: async () => ok },
    // A reset is no reason to take the pod out of service: it has a deadline of its own, and the browser ends when it
    // fails.
    "/readyz": {
      GET: async () =>
        leases.isStarting() || leases.state().resetting || (await browser.isHealthy())
          ? ok
          : refusals.browser_unhealthy,
    },
    "/state": {
      GET: async (request) => {
        const { searchParams } = URL.parse(request.url ?? "", "http://agent") ?? {};
        const epoch = Epoch.safeParse(searchParams?.get("epoch") ?? "0");
        if (!epoch.success) return refusal("bad_request", "epoch: a whole number");
        const [chromium, why] = [browser.version(), ended()];
        const body = {
          ...leases.stateUnder(epoch.data),
          ...(chromium && { chromium }),
          ...(why && { ended: why }),
        };
        return { status: 200, body };
      },
    },
    "/lease": {
      PUT: async (request) => {
        const read = await parseBody(request, BindLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const times = read.body.timings ? createStepTimes() : undefined;
        const outcome = await leases.bind(read.body, times);
        // The caller does not learn of this lease: it died, or it gave up and tries another browser.
        if (outcome === "bound" && hasHungUp(request)) await leases.end({ ...read.body, reuse: "reset" });
        return outcome === "bound" ? state(times) : refusals[outcome];
      },
      DELETE: async (request) => {
        const read = await parseBody(request, EndLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const outcome = await leases.end(read.body);
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    "/reset": {
      GET: async (request) => {
        const times = request.url?.endsWith("?timings=true") ? createStepTimes() : undefined;
        const outcome = await leases.afterReset(times);
        return outcome === "ended" ? state(times) : refusals[outcome];
      },
    },
    ...(changeArchives !== undefined && changeRoutes({ leases, agentKey, folder: changeArchives })),
    ...Object.fromEntries(["/cdp", ...Object.keys(upgrades)].map((path) => [path, { GET: upgradeRequired }])),
    ...routes,
  };
};

const upgradeRequired = async (): Promise<AgentReply> =>
  refusal("upgrade_required", "only a WebSocket upgrade is taken here");

const hasHungUp = ({ socket }: IncomingMessage): boolean => socket.destroyed || !socket.writable;

/** Serves a browser that is up (src/core/protocol/agent-api.ts). Rejects when it cannot listen. */
export const startAgentServer = (deps: AgentServerDeps): Promise<AgentServer> => {
  const { agentKey, leases, browser, upgrades, watch } = deps;
  const paths = { "/cdp": createCdpProxy(browser), ...upgrades };
  const upgrade = createUpgrades({ leases, agentKey, paths, watch });
  return startAgentHttp({ ...deps, routes: createRoutes(deps), upgrade, requestTimeoutMs });
};
