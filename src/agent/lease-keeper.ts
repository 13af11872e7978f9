import type { Duplex } from "node:stream";
import type { Logger } from "../log.ts";
import { type AgentState, type BindLease, compareFences, type EndLease } from "../protocol/agent-api.ts";
import { createLeaseFence, type LeaseName } from "./lease-fence.ts";

/** Sockets that one lease may have open. A client uses one; tools that run beside it use more. */
const maxConnections = 64;

export type BindOutcome = "bound" | "stale_fence" | "browser_unhealthy" | "stopping";
export type EndOutcome = "ended" | "not_holder" | "browser_unhealthy" | "stopping";

export type LeaseKeeper = {
  /** Gives the browser to a lease when its fence is the newest and the browser answers. Cuts the sockets of any earlier lease. */
  bind(request: BindLease): Promise<BindOutcome>;
  /** Takes the browser back: cuts the lease's sockets, then confirms that the browser answers. */
  end(request: EndLease): Promise<EndOutcome>;
  /** Counts a socket as open until it closes, and destroys it when the lease ends. One fill's socket is open at a time. */
  admit(
    sessionId: string,
    socket: Duplex,
    purpose?: "fill",
  ): "admitted" | "not_holder" | "too_many" | "fill_in_progress";
  state(): AgentState;
  /** Raises the epoch (lease-fence.ts) and returns the state with the request of the lease. */
  stateUnder(epoch: number): AgentState;
  /** Accepts no further lease; the present one goes on. Resolves when no lease is held. */
  stop(): Promise<void>;
  /** Cuts all sockets and stops the idle timer. A bind that still waits for the browser fails. */
  close(): void;
};

export type LeaseKeeperDeps = {
  podUid: string;
  browser: { isHealthy(): Promise<boolean>; open(url: string): void };
  /** Called when the lease had no open socket for its `timeout_seconds`, on the monotonic clock. */
  onIdle: () => void;
  log: Logger;
};

/** The held lease. */
type Holding = {
  request: BindLease;
  boundAt: Date;
  sockets: Set<Duplex>;
  /** The socket that is open for a fill. */
  filling: Duplex | undefined;
  idleTimer: NodeJS.Timeout | undefined;
};

const nameOf = ({ session_id, epoch, seq }: LeaseName): LeaseName => ({ session_id, epoch, seq });

/** The lease of one browser: the fence (lease-fence.ts) with its sockets, its idle timer and the browser's health. */
export const createLeaseKeeper = ({ podUid, browser, onIdle, log }: LeaseKeeperDeps): LeaseKeeper => {
  const fence = createLeaseFence();
  let holding: Holding | undefined;
  let claim: Promise<BindOutcome> | undefined;
  let closed = false;
  /** Set by `stop`; resolved when no lease is held. */
  let stopping: PromiseWithResolvers<void> | undefined;

  const cut = (): void => {
    stopping?.resolve();
    if (!holding) return;
    const { sockets, idleTimer } = holding;
    holding = undefined;
    clearTimeout(idleTimer);
    for (const socket of sockets) socket.destroy();
  };

  const waitIdle = (held: Holding): void => {
    held.idleTimer = setTimeout(onIdle, held.request.timeout_seconds * 1000);
  };

  const confirm = async (request: BindLease): Promise<BindOutcome> => {
    const healthy = await browser.isHealthy();
    if (closed || stopping || !healthy) {
      fence.refuse(request);
      return stopping ? "stopping" : "browser_unhealthy";
    }
    if (!fence.grant(request)) return "stale_fence";
    holding = { request, boundAt: new Date(), sockets: new Set(), filling: undefined, idleTimer: undefined };
    waitIdle(holding);
    if (request.start_url) browser.open(request.start_url);
    log.info(nameOf(request), "lease bound");
    return "bound";
  };

  const isHeldBy = ({ session_id, epoch, seq }: BindLease): boolean =>
    holding?.request.session_id === session_id && compareFences(holding.request, { epoch, seq }) === 0;

  const state = (): AgentState => ({
    pod_uid: podUid,
    fence: fence.highest(),
    binding: fence.claimant()?.session_id ?? null,
    lease: holding
      ? {
          ...nameOf(holding.request),
          connections: holding.sockets.size,
          bound_at: holding.boundAt.toISOString(),
        }
      : null,
  });

  return {
    async bind(request) {
      if (stopping) return isHeldBy(request) ? "bound" : "stopping";
      const answer = fence.claim(request);
      if (answer === "stale") return "stale_fence";
      if (answer === "repeated") return fence.holder() ? "bound" : (claim ?? "stale_fence");
      cut();
      claim = confirm(request);
      return claim;
    },
    async end(request) {
      const answer = fence.end(request);
      if (answer === "not_holder") return "not_holder";
      if (answer === "ended") {
        cut();
        log.info(nameOf(request), "lease ended");
      }
      if (!(await browser.isHealthy())) return "browser_unhealthy";
      return stopping ? "stopping" : "ended";
    },
    admit(sessionId, socket, purpose) {
      const held = holding;
      if (held?.request.session_id !== sessionId) return "not_holder";
      if (purpose === "fill" && held.filling) return "fill_in_progress";
      if (held.sockets.size >= maxConnections) return "too_many";
      held.sockets.add(socket);
      if (purpose === "fill") held.filling = socket;
      clearTimeout(held.idleTimer);
      socket.once("close", () => {
        held.sockets.delete(socket);
        if (held.filling === socket) held.filling = undefined;
        if (held === holding && held.sockets.size === 0) waitIdle(held);
      });
      return "admitted";
    },
    state,
    stateUnder(epoch) {
      fence.raise(epoch);
      const { lease, ...rest } = state();
      return { ...rest, lease: lease && holding ? { ...lease, request: holding.request.request } : null };
    },
    stop() {
      stopping ??= Promise.withResolvers();
      if (!holding) stopping.resolve();
      return stopping.promise;
    },
    close() {
      closed = true;
      cut();
    },
  };
};
