/**
 * One agent of a simulated node: the real server, lease keeper, fence and token check over a browser that is only
 * played. Its switches work where the fault would be: on the way in (slow, dead), on the listener (refusing), in the
 * browser (unhealthy), in what the keeper says (lying).
 */
import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentServer } from "../../../src/core/agent/agent-http.ts";
import { startAgentServer } from "../../../src/core/agent/agent-server.ts";
import { createLeaseKeeper, type LeaseKeeper } from "../../../src/core/agent/lease-keeper.ts";
import { createFillTimes } from "../../../src/core/agent/shown-pages.ts";
import type { AgentState } from "../../../src/core/protocol/agent-api.ts";
import { createAgentTokenVerifier } from "../../../src/core/protocol/agent-token.ts";
import { createLiveView } from "../../../src/features/live-view/agent/live-view.ts";
import { createBidiServer } from "../../../src/features/webdriver/agent/serve-bidi.ts";
import type { Logger } from "../../../src/platform/base/log.ts";
import { listedOrder } from "../listed-order.ts";
import type { Said } from "./agent-event.ts";
import type { DevTools } from "./devtools.ts";
import { observedLeases } from "./observed-leases.ts";
import { type PlayedTelemetry, playTelemetry } from "./played-telemetry.ts";
import type { Switches } from "./switches.ts";

type SimulatedAgentOptions = {
  uid: string;
  address: string;
  port: number;
  publicKey: KeyObject;
  agentKey: KeyObject;
  devTools: DevTools;
  say: (said: Said) => void;
  /** The lease ended by itself. */
  onOver: (why: "timeout" | "max_lifetime") => void;
  log: Logger;
};

export type SimulatedAgent = {
  /** The truth about its lease, whatever it says over HTTP. */
  state(): AgentState;
  turn(switches: Switches): Promise<void>;
  telemetry: Pick<PlayedTelemetry, "say" | "settings">;
  /** Takes no further lease; resolves when none is held. */
  stop(): Promise<void>;
  /** Starts again with no memory of any lease; its connections are cut. */
  forget(): Promise<void>;
  /** Breaks every connection and listens no more. */
  close(): void;
};

/** How long a reset takes, ms. A real one takes a tenth of a second or more. */
const quickResetMs = 2;

const nothingHeard: Pick<AgentState, "fence" | "binding" | "lease"> = {
  fence: { epoch: 0, seq: 0 },
  binding: null,
  lease: null,
};

/** Listens when it resolves. Rejects when the address is in use. */
export const startSimulatedAgent = async (options: SimulatedAgentOptions): Promise<SimulatedAgent> => {
  const { uid, address, port, publicKey, agentKey, devTools, say, onOver, log } = options;
  const verify = createAgentTokenVerifier(publicKey, uid);
  const closed = new AbortController();
  let switches: Switches = {};
  let goesOn = Promise.withResolvers<void>();
  goesOn.resolve();

  const pause = (ms = 0): Promise<unknown> | undefined =>
    ms > 0 ? sleep(ms, undefined, { signal: closed.signal }).catch(() => undefined) : undefined;
  const place = {
    at: { host: "127.0.0.1", port: devTools.port },
    path: devTools.add(uid, ({ method, said: { session, command } }) => {
      const holder = keeper.state().lease?.session_id ?? null;
      say({ what: "cdp", holder, ...(session && { session }), ...(command && { command }) });
      return { product: "Chrome/0.0 (simulated)", method, pod: uid };
    }),
  };
  const browser = {
    devTools: () => place,
    pageOrder: () => listedOrder,
    folder: () => "/nonexistent",
    async reset() {
      await pause(switches.resetMs ?? quickResetMs);
      say({ what: "reset" });
    },
    version: () => "0.0.0.0",
    isHealthy: async () => !switches.unhealthy,
    clearFiles: async () => true,
    takeDownloads: () => undefined,
    freeTabs: async () => ({ closed: 0, isFree: true }),
    change: async () => "changed" as const,
    open: () => undefined,
  };
  const newKeeper = (): LeaseKeeper => observedLeases(createLeaseKeeper({ podUid: uid, browser, onOver, log }), say);
  let keeper = newKeeper();

  const lieAbout = (state: AgentState): AgentState =>
    switches.lying === "state" ? { ...state, ...nothingHeard } : state;
  /** What the server asks: the keeper of the moment, through the switches. */
  const leases: LeaseKeeper = {
    async bind(request, times) {
      const outcome = switches.lying === "bind" ? "bound" : await keeper.bind(request, times);
      await pause(switches.slowAnswerMs);
      return outcome;
    },
    async end(request) {
      const outcome = await keeper.end(request);
      await pause(switches.slowAnswerMs);
      return outcome;
    },
    afterReset: (times) => keeper.afterReset(times),
    isHeldBy: (lease) => keeper.isHeldBy(lease),
    bound: () => keeper.bound(),
    prepare: (lease) => keeper.prepare(lease),
    change: (change, archives) => keeper.change(change, archives),
    isStarting: () => keeper.isStarting(),
    admit: (sessionId, socket) => keeper.admit(sessionId, socket),
    enter: (sessionId) => keeper.enter(sessionId),
    isUsed: () => keeper.isUsed(),
    state: () => lieAbout(keeper.state()),
    stateUnder: (epoch) => lieAbout(keeper.stateUnder(epoch)),
    stop: () => keeper.stop(),
    close: () => keeper.close(),
  };
  const comeIn = async (token: string): Promise<boolean> => {
    await goesOn.promise;
    await pause(switches.slowMs);
    return !closed.signal.aborted && verify(token);
  };
  const telemetry = playTelemetry(() => keeper);
  const { routes } = telemetry;
  const listen = (): Promise<AgentServer> =>
    startAgentServer({
      address,
      port,
      verify: comeIn,
      agentKey,
      leases,
      browser,
      routes,
      upgrades: {
        "/webdriver": createBidiServer({ browser, log }),
        "/view": createLiveView({ ...browser, shownPages: createFillTimes(), mask: (text) => text }),
      },
      log,
    });
  let server: AgentServer | undefined = await listen();
  const hangUp = (): void => {
    server?.close();
    server = undefined;
  };
  return {
    state: () => keeper.state(),
    telemetry,
    async turn(next) {
      switches = next;
      goesOn.resolve();
      if (next.dead) goesOn = Promise.withResolvers();
      if (next.refusing) hangUp();
      else if (!closed.signal.aborted) server ??= await listen();
    },
    async stop() {
      await keeper.stop();
      await server?.finish();
    },
    async forget() {
      hangUp();
      keeper.close();
      keeper = newKeeper();
      // A process that starts again has another browser.
      say({ what: "reset" });
      if (!switches.refusing) server = await listen();
    },
    close() {
      closed.abort();
      hangUp();
      keeper.close();
      devTools.remove(uid);
      // What still waits in a stopped process goes nowhere: its connections are gone.
      goesOn.resolve();
    },
  };
};
