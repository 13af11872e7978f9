/**
 * What clients do with a pool, each one turn: well-behaved ones for the most part, and the ways in which callers go
 * wrong. A session that a client still knows of is released in the end, except where its death is the point.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "../pools.ts";
import type { Random } from "../random.ts";
import type { Cdp, Session } from "./cdp.ts";
import type { Acquired, AcquireRequest, ServiceCalls } from "./service-calls.ts";

type Turn = { calls: ServiceCalls; pool: Pool; random: Random; signal: AbortSignal };
type Behaviour = (turn: Turn) => Promise<void>;

/** Tries to release while no clear answer comes: longer than any fault lasts. */
const releaseTries = 40;
const retryPauseMs = 400;
const acquireTries = 3;

/** Waits, but not beyond the end of the load. */
const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

const hold = ({ random, signal }: Turn): Promise<unknown> => pause(random.int(0, 120), signal);

/** How long callers are willing to wait, s. */
const waits = [0, 0, 1, 1, 1, 3, 3, 3, 3, 8, 8, 8, 8, 8];

/** As the SDK does it: what may go better soon is asked again with the same key. */
const acquire = async (
  { calls, pool, random, signal }: Turn,
  request: Partial<AcquireRequest> = {},
): Promise<Session | undefined> => {
  const asked = { waitSeconds: random.pick(waits), ...request };
  for (let tries = 1; ; tries++) {
    const acquired: Acquired = await calls.acquire(pool, asked);
    if (acquired.kind === "held") return acquired.session;
    if (acquired.kind === "refused") await pause(retryPauseMs, signal);
    if (acquired.kind !== "retry") return undefined;
    await pause(random.int(50, retryPauseMs), signal);
    if (tries === acquireTries || signal.aborted) return undefined;
  }
};

const release = async ({ calls, random }: Turn, session: Session, reuse = true): Promise<void> => {
  for (let tries = 1; tries <= releaseTries; tries++) {
    if ((await calls.release(session, reuse)) !== "unclear") return;
    await sleep(random.int(50, retryPauseMs));
  }
};

/** Holds a browser for the length of `use`. */
const withBrowser = async (turn: Turn, use: (session: Session) => Promise<unknown>, reuse = true): Promise<void> => {
  const session = await acquire(turn);
  if (!session) return;
  await use(session);
  await release(turn, session, reuse);
};

/** Connects and sends some commands over the time of the hold. */
const work = async (turn: Turn, session: Session): Promise<Cdp | undefined> => {
  const cdp = await turn.calls.connect(session);
  for (let rest = turn.random.int(1, 3); cdp && rest > 0; rest--) {
    if (!(await cdp.command())) break;
    await pause(turn.random.int(0, 60), turn.signal);
  }
  return cdp;
};

const newKey = (random: Random): string => `key-${random.int(0, 2 ** 31)}-${random.int(0, 2 ** 31)}`;

export const behaviours = {
  /** Acquires, holds, gives back. */
  plain: (turn) => withBrowser(turn, () => hold(turn)),
  /** Gives the browser back to be destroyed. */
  destroy: (turn) => withBrowser(turn, () => hold(turn), false),
  /** Works over CDP, and reconnects. */
  cdp: (turn) =>
    withBrowser(turn, async (session) => {
      for (let rest = turn.random.int(1, 2); rest > 0; rest--) (await work(turn, session))?.close();
    }),
  /** Ends its session by the session's own path. */
  remove: async (turn) => {
    const session = await acquire(turn);
    if (!session) return;
    await hold(turn);
    if ((await turn.calls.remove(session)) === "unclear") await release(turn, session);
  },
  /** Releases at the same time by two requests, and once more after a while. */
  releaseTwice: async (turn) => {
    const session = await acquire(turn);
    if (!session) return;
    await hold(turn);
    await Promise.all([release(turn, session), turn.calls.release(session, turn.random.chance(0.5))]);
    await pause(turn.random.int(0, 300), turn.signal);
    await turn.calls.release(session, turn.random.chance(0.5));
  },
  /** Goes on with its connection and its session after it has given the browser back. */
  useAfterRelease: async (turn) => {
    const session = await acquire(turn);
    if (!session) return;
    const cdp = await work(turn, session);
    await release(turn, session);
    for (let rest = 3; cdp && rest > 0; rest--) {
      if (!(await cdp.command())) break;
      await pause(turn.random.int(0, 40), turn.signal);
    }
    cdp?.close();
    (await turn.calls.connect(session))?.close();
    await turn.calls.remove(session);
  },
  /** Hangs up while it waits, in the instant of the grant or at once. */
  hangUp: async (turn) => {
    const hangUpMs = turn.random.pick([0, 1, 2, 4, 8, 20, 80, 300]);
    const session = await acquire(turn, { hangUpMs });
    if (session) await release(turn, session);
  },
  /** Is gone without a word; the idle time-out has to end its session. */
  die: async (turn) => {
    await acquire(turn);
  },
  /** The same request by several requests: at once and again later. */
  repeat: async (turn) => {
    const request = { idempotencyKey: newKey(turn.random), waitSeconds: 3 };
    const sessions = await Promise.all(Array.from({ length: turn.random.int(2, 4) }, () => acquire(turn, request)));
    const session = sessions.find((held) => held !== undefined) ?? (await acquire(turn, request));
    if (!session) return;
    await hold(turn);
    await Promise.all(sessions.map((other) => other && other.id !== session.id && release(turn, other)));
    await release(turn, session);
  },
  /** Many requests in the same instant. */
  burst: async (turn) => {
    await Promise.all(Array.from({ length: turn.random.int(3, 8) }, () => behaviours.plain(turn)));
  },
  /** Holds longer than the idle time-out's checks, connected all the time. */
  stay: (turn) =>
    withBrowser(turn, async (session) => {
      const cdp = await work(turn, session);
      await pause(turn.random.int(500, 2500), turn.signal);
      await cdp?.command();
      cdp?.close();
    }),
} satisfies Record<string, Behaviour>;

/** How often each is chosen. */
export const habits: Readonly<Record<keyof typeof behaviours, number>> = {
  plain: 52,
  destroy: 4,
  cdp: 12,
  remove: 4,
  releaseTwice: 5,
  useAfterRelease: 4,
  hangUp: 8,
  die: 0.7,
  repeat: 4,
  burst: 3,
  stay: 1.5,
};
