import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createLiveView } from "../../features/live-view/agent/live-view.ts";
import type { SessionTelemetry } from "../../features/telemetry/agent/session-telemetry.ts";
import { telemetryRoutes } from "../../features/telemetry/agent/telemetry-routes.ts";
import { createBidiServer } from "../../features/webdriver/agent/serve-bidi.ts";
import type { Logger } from "../../platform/base/log.ts";
import { BindLease, EndLease, Epoch, type LeaseEnd } from "../protocol/agent-api.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type AgentServer, ok, parseBody, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusal, refusals } from "./agent-reply.ts";
import type { Browser } from "./browser.ts";
import { createCdpProxy } from "./cdp-proxy.ts";
import { changeRoutes } from "./change-routes.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { ShownPages } from "./shown-pages.ts";
import { createUpgrades } from "./upgrades.ts";

/** Time for one request, ms: the archive of a profile can be large. */
const requestTimeoutMs = 10 * 60_000;

/** The largest body that is read. Most leases take a few hundred bytes; the longest request takes up to three bytes a character. */
const maxBodyBytes = 512 * 1024;

type AgentServerDeps = {
  address: string;
  port: number;
  verify: VerifyAgentToken;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
  leases: LeaseKeeper;
  browser: Pick<Browser, "devTools" | "pageOrder" | "uploads" | "isHealthy">;
  /** Which pages a live view may show. */
  shownPages: ShownPages;
  /** Where archives of a holder's change are kept; left out, the browser can't be changed. */
  changeArchives?: string;
  /** What is captured of leases; left out, nothing is. */
  telemetry?: SessionTelemetry;
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
  telemetry,
  routes,
  ended = () => undefined,
}: AgentServerDeps): Routes => {
  const state = (): AgentReply => ({ status: 200, body: leases.state() });
  return {
    "/livez": { GET: async () => ok },
    // A reset is no reason to take the pod out of service: it has a deadline of its own, and the browser ends when it fails.
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
        const why = ended();
        return { status: 200, body: { ...leases.stateUnder(epoch.data), ...(why && { ended: why }) } };
      },
    },
    "/lease": {
      PUT: async (request) => {
        const read = await parseBody(request, BindLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const outcome = await leases.bind(read.body);
        // The caller does not learn of this lease: it died, or it gave up and tries another browser.
        if (outcome === "bound" && hasHungUp(request)) await leases.end({ ...read.body, reuse: "reset" });
        return outcome === "bound" ? state() : refusals[outcome];
      },
      DELETE: async (request) => {
        const read = await parseBody(request, EndLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const outcome = await leases.end(read.body);
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    "/reset": {
      GET: async () => {
        const outcome = await leases.afterReset();
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    ...(changeArchives !== undefined && changeRoutes({ leases, agentKey, folder: changeArchives })),
    ...(telemetry && telemetryRoutes({ leases, telemetry, agentKey })),
    ...Object.fromEntries(["/cdp", "/webdriver", "/view"].map((path) => [path, { GET: upgradeRequired }])),
    ...routes,
  };
};

const upgradeRequired = async (): Promise<AgentReply> =>
  refusal("upgrade_required", "only a WebSocket upgrade is taken here");

const hasHungUp = ({ socket }: IncomingMessage): boolean => socket.destroyed || !socket.writable;

/** Serves a browser that is up (src/core/protocol/agent-api.ts). Rejects when it cannot listen. */
export const startAgentServer = (deps: AgentServerDeps): Promise<AgentServer> => {
  const { agentKey, leases, browser, shownPages, telemetry } = deps;
  const paths = {
    "/cdp": createCdpProxy(browser),
    "/webdriver": createBidiServer(deps),
    "/view": createLiveView({
      ...browser,
      shownPages,
      mask: (text, maxChars) => telemetry?.masked(text, maxChars) ?? text,
    }),
  };
  const upgrade = createUpgrades({ leases, agentKey, paths, ...(telemetry && { telemetry }) });
  return startAgentHttp({ ...deps, routes: createRoutes(deps), upgrade, requestTimeoutMs });
};
