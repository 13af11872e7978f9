import type { Duplex } from "node:stream";
import type { Logger } from "../../platform/base/log.ts";
import type { AgentState, BindLease, EndLease, Purpose } from "../protocol/agent-api.ts";
import type { Browser } from "./browser.ts";
import { type CleanBrowser, createCleanBrowser } from "./clean-browser.ts";
import { type EnteredCall, type HeldLease, holdLease, isLeaseOf, type OverReason } from "./held-lease.ts";
import {
  type ChangeFollower,
  createHolderChanges,
  createHolderOutcome,
  type FollowOutcome,
  type HolderChanges,
} from "./holder-changes.ts";
import { createLeaseFence, type LeaseName } from "./lease-fence.ts";
import { createFillTimes, type FillTimes } from "./shown-pages.ts";
import type { StepTimes } from "./step-times.ts";

type BindOutcome = "bound" | "stale_fence" | "browser_unhealthy" | "resetting" | "stopping";
type EndOutcome = "ended" | "not_holder" | "browser_unhealthy" | "stopping";

export type LeaseKeeper = HolderChanges & {
  /**
   * Gives the browser to a lease when its fence is the newest, and the browser is clean and answers. Cuts the sockets
   * of any earlier lease. `times`: told of the steps of the call that does it, not of one that repeats it.
   */
  bind(request: BindLease, times?: StepTimes): Promise<BindOutcome>;
  /**
   * Takes the browser back: cuts the lease's sockets, then begins to reset a used browser or to try its tabs
   * (`state().resetting`), or confirms that the browser answers.
   */
  end(request: EndLease): Promise<EndOutcome>;
  /** Whether this lease holds the browser now. */
  isHeldBy(lease: LeaseName): boolean;
  /** The bind of the lease that holds the browser now, as its holder has changed it. */
  bound(): BindLease | undefined;
  /**
   * Resolves when no reset is under way, with whether the browser may be offered: `ended`, or why not. `times`: told of
   * the steps.
   */
  afterReset(times?: StepTimes): Promise<Exclude<EndOutcome, "not_holder">>;
  /**
   * Counts a socket as open until it closes, and destroys it when the lease ends. One fill's socket is open at a time.
   */
  admit(
    sessionId: string,
    socket: Duplex,
    purpose?: Purpose,
  ): "admitted" | "not_holder" | "too_many" | "fill_in_progress" | "resetting";
  /** Counts a call of this session's holder as an open socket until it is done. */
  enter(sessionId: string): EnteredCall | "session_not_found" | "too_many_requests";
  /** Whether the present browser has been used by a client. */
  isUsed(): boolean;
  state(): AgentState;
  /** Raises the epoch (lease-fence.ts) and returns the state with the request of the lease. */
  stateUnder(epoch: number): AgentState;
  /** Accepts no further lease; the present one goes on. Resolves when no lease is held. */
  stop(): Promise<void>;
  /** Cuts all sockets and stops the idle timer. A bind that still waits for the browser fails. */
  close(): void;
};

/**
 * Goes along with a lease, as its logs do. `left`: resolves when nothing of the last lease needs to stay any more, and
 * never rejects; until then nothing is removed, and no other lease begins.
 */
export type LeaseFollower = ChangeFollower & {
  begin(lease: BindLease): void;
  end(): void;
  left?(): Promise<void> | undefined;
};

type LeaseKeeperDeps = {
  podUid: string;
  browser: Pick<Browser, "isHealthy" | "open" | "reset" | "change" | "freeTabs" | "clearFiles">;
  /** Called when the lease is over by itself. */
  onOver: (why: OverReason) => void;
  /** Watches a session that allows it; left out, none is. */
  observe?: FollowOutcome;
  /** Told of each fill; left out, nobody asks for it. */
  fills?: FillTimes;
  /** Told when a lease begins, and when it is over. */
  followers?: readonly LeaseFollower[];
  log: Logger;
};

const nameOf = ({ session_id, epoch, seq }: LeaseName): LeaseName => ({ session_id, epoch, seq });

const leaseState = ({ request, connections, boundAt }: HeldLease): AgentState["lease"] => ({
  ...nameOf(request),
  connections: connections(),
  bound_at: boundAt.toISOString(),
});

const withRequest = ({ lease, ...rest }: AgentState, held: HeldLease | undefined): AgentState => ({
  ...rest,
  lease: lease && held ? { ...lease, request: held.request.request } : null,
});

/** Opens the start URL of a lease, if it has one. */
const openFirst = (
  url: string | undefined,
  { clean, browser }: { clean: Pick<CleanBrowser, "use">; browser: Pick<Browser, "open"> },
): void => {
  if (!url) return;
  clean.use();
  browser.open(url);
};

/** The browser, of whose last lease nothing is removed before `left`. */
const cleanedAfter = (
  left: () => Promise<unknown>,
  { browser, fills }: { browser: LeaseKeeperDeps["browser"]; fills: Pick<FillTimes, "forget"> },
): LeaseKeeperDeps["browser"] => ({
  ...browser,
  reset: () => left().then(browser.reset).then(fills.forget),
  clearFiles: () => left().then(browser.clearFiles),
});

type UsesDeps = {
  held(): HeldLease | undefined;
  clean: Pick<CleanBrowser, "use">;
  changes: Pick<HolderChanges, "isStarting">;
  observation: { forget(): void };
};

/** What a holder uses its browser by: sockets and calls. */
const createUses = ({ held: now, clean, changes, observation }: UsesDeps): Pick<LeaseKeeper, "admit" | "enter"> => ({
  admit(sessionId, socket, purpose) {
    const held = now();
    if (held?.request.session_id !== sessionId) return "not_holder";
    if (changes.isStarting()) return "resetting";
    const admitted = held.admit(socket, purpose);
    if (admitted === "admitted") clean.use();
    if (purpose === "fill" && admitted === "admitted") observation.forget();
    return admitted;
  },
  enter(sessionId) {
    const held = now();
    if (held?.request.session_id !== sessionId) return "session_not_found";
    clean.use();
    return held.enter();
  },
});

/** The lease of one browser: the fence (lease-fence.ts) with its sockets, its timers and the browser's state. */
export const createLeaseKeeper = (deps: LeaseKeeperDeps): LeaseKeeper => {
  const { podUid, browser, onOver, observe, fills = createFillTimes(), followers = [], log } = deps;
  const fence = createLeaseFence();
  let held: HeldLease | undefined;
  const left = (): Promise<unknown> => Promise.all(followers.map((follower) => follower.left?.()));
  const clean = createCleanBrowser(cleanedAfter(left, { browser, fills }), log);
  const observation = createHolderOutcome(observe);
  const all = [observation, ...followers];
  let claim: Promise<BindOutcome> | undefined;
  let closed = false;
  /** Set by `stop`; resolved when no lease is held. */
  let stopping: PromiseWithResolvers<void> | undefined;

  const cut = (): void => {
    stopping?.resolve();
    for (const follower of all) follower.end();
    held?.cut();
    held = undefined;
  };

  const confirm = async (request: BindLease, times?: StepTimes): Promise<BindOutcome> => {
    // Of a browser that is being made anew, the reset waits for it.
    if (!clean.isUsed() && !clean.isResetting()) await left();
    const whyNot = await clean.whyNotNow(request.takes_kept === true, times);
    if (closed || stopping || whyNot) {
      fence.refuse(request);
      return stopping ? "stopping" : (whyNot ?? "browser_unhealthy");
    }
    if (!fence.grant(request)) return "stale_fence";
    held = holdLease(request, onOver, fills);
    for (const follower of all) follower.begin(request);
    openFirst(request.start_url, { clean, browser });
    times?.ended("fence");
    log.info(nameOf(request), "lease bound");
    return "bound";
  };

  const whetherOffered = async (times?: StepTimes): Promise<"ended" | "browser_unhealthy" | "stopping"> => {
    if (!(await clean.isWell(times))) return "browser_unhealthy";
    return stopping ? "stopping" : "ended";
  };

  const onChange = [clean.change, observation.forget];
  const open = (url: string | undefined): void => openFirst(url, { clean, browser });
  const changes = createHolderChanges({ browser, open, onChange, followers, held: () => held, log });

  const state = (): AgentState => ({
    pod_uid: podUid,
    fence: fence.highest(),
    binding: fence.claimant()?.session_id ?? null,
    resetting: clean.isResetting(),
    lease: held ? leaseState(held) : null,
    outcome: observation.outcome(),
    ...(clean.isKept() && { kept: true }),
  });

  const uses = createUses({ held: () => held, clean, changes, observation });
  return {
    ...uses,
    async bind(request, times) {
      if (stopping) return isLeaseOf(held, request) ? "bound" : "stopping";
      const answer = fence.claim(request);
      if (answer === "stale") return "stale_fence";
      if (answer === "repeated") return fence.holder() ? "bound" : (claim ?? "stale_fence");
      cut();
      claim = confirm(request, times);
      return claim;
    },
    async end(request) {
      const answer = fence.end(request);
      if (answer === "not_holder") return "not_holder";
      if (answer === "ended") {
        cut();
        log.info(nameOf(request), "lease ended");
      }
      const isOffered = !stopping && !closed;
      if (request.reuse === "keep" && answer === "ended" && isOffered) clean.keep();
      if (request.reuse === "reset" && isOffered) clean.reset();
      return clean.isResetting() || request.reuse === "none" ? "ended" : whetherOffered();
    },
    isHeldBy: (lease) => isLeaseOf(held, lease),
    bound: () => held?.request,
    ...changes,
    afterReset: whetherOffered,
    isUsed: clean.isUsed,
    state,
    stateUnder(epoch) {
      fence.raise(epoch);
      return withRequest(state(), held);
    },
    stop() {
      stopping ??= Promise.withResolvers();
      if (!held) stopping.resolve();
      return stopping.promise;
    },
    close() {
      closed = true;
      cut();
    },
  };
};
