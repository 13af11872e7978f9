import type { Duplex } from "node:stream";
import { type BindLease, compareFences, type Purpose } from "../protocol/agent-api.ts";
import type { LeaseName } from "./lease-fence.ts";
import type { FillTimes } from "./shown-pages.ts";

/** Sockets that one lease may have open. A client uses one; tools that run beside it use more. */
const maxConnections = 64;

/** Calls that one lease may have under way. */
const maxCalls = 32;

/** The lease that has the browser now: its sockets and its timers, which run on the monotonic clock. */
export type HeldLease = {
  request: BindLease;
  boundAt: Date;
  /** Number of open sockets that use the browser: all but glances. */
  connections(): number;
  /**
   * Counts a socket as open until it closes. One fill's socket is open at a time; a glance leaves the timers as they
   * are.
   */
  admit(socket: Duplex, purpose?: Purpose): "admitted" | "too_many" | "fill_in_progress";
  /** Destroys the sockets that are open. The lease goes on. */
  disconnect(): void;
  /** Counts as an open socket until the returned function is called: its holder waits for something. */
  wait(): () => void;
  /** Counts as an open socket until it is done. */
  enter(): EnteredCall | "too_many_requests";
  /** Keeps another request, or another time without a socket, from now on. */
  rewrite(changed: Partial<Pick<BindLease, "request" | "timeout_seconds">>): void;
  /** Destroys the sockets and stops the timers. */
  cut(): void;
};

/** A call of the holder. `signal`: aborted when the lease ends. `done`: it is over; may be called again. */
export type EnteredCall = { signal: AbortSignal; done(): void };

/** Whether the lease of this name is held. */
export const isLeaseOf = (held: HeldLease | undefined, { session_id, epoch, seq }: LeaseName): boolean =>
  held?.request.session_id === session_id && compareFences(held.request, { epoch, seq }) === 0;

/** Why a lease is over by itself: no open socket for its `timeout_seconds`, or it is `max_seconds` old. */
export type OverReason = "timeout" | "max_lifetime";

/** The reason with which calls are aborted. One for all: each has a stack, which takes its time. */
const leaseOver = new Error("the lease has ended");

/** Starts the timers of a lease. `fills`: told of each fill. */
export const holdLease = (
  request: BindLease,
  onOver: (why: OverReason) => void,
  fills: Pick<FillTimes, "begin">,
): HeldLease => {
  const sockets = new Set<Duplex>();
  const using = new Set<Duplex>();
  const calls = new Set<AbortController>();
  let waits = 0;
  let present = request;
  let filling: Duplex | undefined;
  let isCut = false;
  const waitIdle = (): NodeJS.Timeout => setTimeout(onOver, present.timeout_seconds * 1000, "timeout");
  const lifeTimer = setTimeout(onOver, request.max_seconds * 1000, "max_lifetime");
  let idleTimer = waitIdle();
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const idle = (): void => {
    if (!isCut && using.size === 0 && calls.size === 0 && waits === 0) idleTimer = waitIdle();
  };
  return {
    get request() {
      return present;
    },
    boundAt: new Date(),
    connections: () => using.size,
    admit(socket, purpose) {
      if (purpose === "fill" && filling) return "fill_in_progress";
      if (sockets.size >= maxConnections) return "too_many";
      sockets.add(socket);
      if (purpose === "fill") {
        filling = socket;
        socket.once("close", fills.begin());
      }
      socket.once("close", () => sockets.delete(socket));
      if (purpose === "glance") return "admitted";
      using.add(socket);
      clearTimeout(idleTimer);
      socket.once("close", () => {
        using.delete(socket);
        if (filling === socket) filling = undefined;
        idle();
      });
      return "admitted";
    },
    disconnect,
    wait() {
      waits += 1;
      clearTimeout(idleTimer);
      return () => {
        waits -= 1;
        idle();
      };
    },
    enter() {
      if (calls.size >= maxCalls) return "too_many_requests";
      const call = new AbortController();
      calls.add(call);
      clearTimeout(idleTimer);
      return {
        signal: call.signal,
        done() {
          if (calls.delete(call)) idle();
        },
      };
    },
    rewrite(changed) {
      present = { ...present, ...changed };
      clearTimeout(idleTimer);
      idle();
    },
    cut() {
      isCut = true;
      clearTimeout(idleTimer);
      clearTimeout(lifeTimer);
      disconnect();
      for (const call of calls) call.abort(leaseOver);
    },
  };
};
