import { once } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { BindLease, EndLease } from "../protocol/agent-api.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./lease-keeper.ts";

type Lease = BindLease & Pick<EndLease, "reuse">;

const lease = (session_id: string, seq: number, more: Partial<Lease> = {}): Lease => ({
  session_id,
  epoch: 1,
  seq,
  timeout_seconds: 10,
  max_seconds: 3600,
  request: "{}",
  reuse: "reset",
  ...more,
});

/** Lets everything happen that waits for no timer. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

/** A keeper whose browser answers when the test says so. `holdsResets`: and is made anew when the test says so. */
const setUp = ({ holdsResets = false } = {}) => {
  const checks: ((healthy: boolean) => void)[] = [];
  /** Answers to checks that come later. */
  const answers: boolean[] = [];
  const opened: string[] = [];
  const onOver = vi.fn();
  const resets: (() => void)[] = [];
  const keeper = createLeaseKeeper({
    podUid: "pod",
    browser: {
      isHealthy: () => {
        const known = answers.shift();
        return known === undefined ? new Promise((resolve) => checks.push(resolve)) : Promise.resolve(known);
      },
      open: (url) => opened.push(url),
      change: async () => "changed",
      clearFiles: async () => true,
      freeTabs: async () => ({ closed: 0, isFree: true }),
      reset: () => new Promise((resolve) => (holdsResets ? resets.push(resolve) : resolve())),
    },
    onOver,
    log: createLogger("silent", "test"),
  });
  const answer = (healthy: boolean): void => {
    const check = checks.shift();
    if (check) check(healthy);
    else answers.push(healthy);
  };
  const bound = async (request: BindLease): Promise<void> => {
    const outcome = keeper.bind(request);
    await settled();
    answer(true);
    expect(await outcome).toBe("bound");
  };
  /** Ends the reset that is under way. */
  const isAnew = async (): Promise<void> => {
    resets.shift()?.();
    await settled();
  };
  return { keeper, opened, onOver, answer, bound, resets, isAnew };
};

const holder = (keeper: LeaseKeeper): string | undefined => keeper.state().lease?.session_id;

describe("while a bind waits for the browser", () => {
  test("no session holds the browser, not even the one before", async () => {
    const { keeper, bound } = setUp();
    await bound(lease("a", 1));
    const socket = new PassThrough();
    keeper.admit("a", socket);
    void keeper.bind(lease("b", 2));
    expect(socket.destroyed).toBe(true);
    expect(keeper.admit("a", new PassThrough())).toBe("not_holder");
    expect(keeper.admit("b", new PassThrough())).toBe("not_holder");
    expect(keeper.state()).toMatchObject({ lease: null, fence: { epoch: 1, seq: 2 } });
  });

  test("a newer bind wins, whichever is answered first", async () => {
    const { keeper, answer } = setUp();
    const [older, newer] = [keeper.bind(lease("a", 1)), keeper.bind(lease("b", 2))];
    answer(true);
    expect(await older).toBe("stale_fence");
    answer(true);
    expect(await newer).toBe("bound");
    expect(holder(keeper)).toBe("b");
  });

  test("an end wins", async () => {
    const { keeper, answer } = setUp();
    const binding = keeper.bind(lease("a", 1));
    const ending = keeper.end(lease("a", 1));
    answer(true);
    answer(true);
    expect(await binding).toBe("stale_fence");
    expect(await ending).toBe("ended");
    expect(holder(keeper)).toBeUndefined();
  });

  test("its repetition gets the same answer, and opens the start URL once", async () => {
    const { keeper, opened, answer } = setUp();
    const request = lease("a", 1, { start_url: "https://start.test/" });
    const [first, second] = [keeper.bind(request), keeper.bind(request)];
    answer(true);
    expect(await Promise.all([first, second])).toEqual(["bound", "bound"]);
    expect(await keeper.bind(request)).toBe("bound");
    expect(opened).toEqual(["https://start.test/"]);
  });

  test("closing the keeper makes it fail", async () => {
    const { keeper, answer } = setUp();
    const binding = keeper.bind(lease("a", 1));
    keeper.close();
    answer(true);
    expect(await binding).toBe("browser_unhealthy");
    expect(holder(keeper)).toBeUndefined();
  });
});

describe("asked under an epoch", () => {
  test("a lease that is held stays, tells its request, and is ended by its own fence", async () => {
    const { keeper, answer, bound } = setUp();
    await bound(lease("a", 5, { request: '{"tags":{}}' }));
    const socket = new PassThrough();
    keeper.admit("a", socket);
    expect(keeper.stateUnder(2)).toMatchObject({
      fence: { epoch: 2, seq: 5 },
      binding: null,
      lease: { session_id: "a", epoch: 1, seq: 5, connections: 1, request: '{"tags":{}}' },
    });
    expect(keeper.state().lease).not.toHaveProperty("request");
    expect(socket.destroyed).toBe(false);
    const ending = keeper.end(lease("a", 5));
    answer(true);
    expect(await ending).toBe("ended");
    expect(keeper.stateUnder(2)).toMatchObject({ fence: { epoch: 2, seq: 5 }, lease: null });
  });

  test("a bind of a lower one that waits for the browser fails, and so does every later one", async () => {
    const { keeper, answer, bound } = setUp();
    const binding = keeper.bind(lease("a", 1));
    expect(keeper.state().binding).toBe("a");
    expect(keeper.stateUnder(2)).toMatchObject({ fence: { epoch: 2, seq: 1 }, binding: null, lease: null });
    answer(true);
    expect(await binding).toBe("stale_fence");
    expect(await keeper.bind(lease("b", 9))).toBe("stale_fence");
    await bound(lease("c", 2, { epoch: 2 }));
    expect(holder(keeper)).toBe("c");
  });

  test("a bind of that epoch goes on", async () => {
    const { keeper, answer } = setUp();
    const binding = keeper.bind(lease("a", 1, { epoch: 2 }));
    expect(keeper.stateUnder(2)).toMatchObject({ binding: "a", lease: null });
    answer(true);
    expect(await binding).toBe("bound");
    expect(keeper.stateUnder(2)).toMatchObject({ binding: null, lease: { session_id: "a" } });
  });
});

test("a browser that is not healthy is not bound, opens nothing, and the fence is used up", async () => {
  const { keeper, opened, answer } = setUp();
  const binding = keeper.bind(lease("a", 1, { start_url: "https://start.test/" }));
  answer(false);
  expect(await binding).toBe("browser_unhealthy");
  expect(opened).toEqual([]);
  expect(await keeper.bind(lease("b", 1))).toBe("stale_fence");
});

// LEASE-20
test("an end cuts the sockets even when the browser is not healthy", async () => {
  const { keeper, answer, bound } = setUp();
  await bound(lease("a", 1));
  const socket = new PassThrough();
  keeper.admit("a", socket);
  const ending = keeper.end(lease("a", 1, { reuse: "keep" }));
  expect(socket.destroyed).toBe(true);
  expect(await ending).toBe("ended");
  await settled();
  const offering = keeper.afterReset();
  answer(false);
  expect(await offering).toBe("browser_unhealthy");
});

describe("a used browser", () => {
  const used = async (parts: ReturnType<typeof setUp>): Promise<void> => {
    await parts.bound(lease("a", 1));
    parts.keeper.admit("a", new PassThrough());
  };

  // LEASE-29
  test("is reset after its lease, and goes to nobody before it is up again", async () => {
    const parts = setUp({ holdsResets: true });
    const { keeper, answer, isAnew, resets } = parts;
    await used(parts);
    expect(await keeper.end(lease("a", 1))).toBe("ended");
    expect([keeper.state().resetting, resets.length]).toEqual([true, 1]);
    expect(await keeper.end(lease("a", 1))).toBe("ended");
    const [binding, afterReset] = [keeper.bind(lease("b", 2)), keeper.afterReset()];
    await settled();
    expect([holder(keeper), resets.length]).toEqual([undefined, 1]);
    await isAnew();
    expect(keeper.state().resetting).toBe(false);
    answer(true);
    answer(true);
    expect(await Promise.all([binding, afterReset])).toEqual(["bound", "ended"]);
    expect(holder(keeper)).toBe("b");
  });

  // LEASE-28
  test("is not reset after a release that keeps it, and is after the next one that does not", async () => {
    const parts = setUp({ holdsResets: true });
    const { keeper, bound, resets } = parts;
    await used(parts);
    expect([await keeper.end(lease("a", 1, { reuse: "keep" })), keeper.state().resetting]).toEqual(["ended", true]);
    await settled();
    expect(keeper.state()).toMatchObject({ resetting: false, kept: true });
    await bound(lease("b", 2, { takes_kept: true }));
    keeper.admit("b", new PassThrough());
    expect(keeper.state()).not.toHaveProperty("kept");
    await keeper.end(lease("b", 2));
    expect(resets.length).toBe(1);
  });

  // LEASE-63
  test("that was kept is reset before a lease that does not take it so", async () => {
    const parts = setUp({ holdsResets: true });
    const { keeper, answer, resets, isAnew } = parts;
    await used(parts);
    await keeper.end(lease("a", 1, { reuse: "keep" }));
    await settled();
    const binding = keeper.bind(lease("b", 2));
    await settled();
    expect([holder(keeper), resets.length]).toEqual([undefined, 1]);
    await isAnew();
    answer(true);
    expect(await binding).toBe("bound");
    expect(keeper.state()).not.toHaveProperty("kept");
  });

  // LEASE-28
  test("that was kept stays so when its next lease ends unused", async () => {
    const parts = setUp({ holdsResets: true });
    const { keeper, answer, bound, resets } = parts;
    await used(parts);
    await keeper.end(lease("a", 1, { reuse: "keep" }));
    await settled();
    await bound(lease("b", 2, { takes_kept: true }));
    const ending = keeper.end(lease("b", 2));
    answer(true);
    expect([await ending, keeper.state().kept, resets.length]).toEqual(["ended", true, 0]);
  });

  test("that another lease takes over is reset first; when that takes long, the bind is refused", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const parts = setUp({ holdsResets: true });
    await used(parts);
    const binding = parts.keeper.bind(lease("b", 2));
    await vi.advanceTimersByTimeAsync(2000);
    expect(await binding).toBe("resetting");
    expect([holder(parts.keeper), parts.resets.length]).toEqual([undefined, 1]);
  });

  test("that will be destroyed is not reset", async () => {
    const parts = setUp({ holdsResets: true });
    await used(parts);
    expect(await parts.keeper.end(lease("a", 1, { reuse: "none" }))).toBe("ended");
    expect(parts.resets.length).toBe(0);
  });

  test("that does not come back is not offered", async () => {
    const parts = setUp();
    await used(parts);
    await parts.keeper.end(lease("a", 1));
    const afterReset = parts.keeper.afterReset();
    await settled();
    parts.answer(false);
    expect(await afterReset).toBe("browser_unhealthy");
  });
});

test("a browser that no client has used is not reset, unless its lease opened a page", async () => {
  const { keeper, answer, bound, resets } = setUp({ holdsResets: true });
  await bound(lease("a", 1));
  const ending = keeper.end(lease("a", 1));
  answer(true);
  expect([await ending, resets.length]).toEqual(["ended", 0]);
  await bound(lease("b", 2, { start_url: "https://start.test/" }));
  await keeper.end(lease("b", 2));
  expect(resets.length).toBe(1);
});

// LEASE-33
test("a lease is over at its greatest age, also with open sockets", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { keeper, onOver, bound } = setUp();
  await bound(lease("a", 1, { max_seconds: 60 }));
  keeper.admit("a", new PassThrough());
  await vi.advanceTimersByTimeAsync(59_999);
  expect(onOver).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onOver).toHaveBeenCalledExactlyOnceWith("max_lifetime");
  keeper.close();
  expect(vi.getTimerCount()).toBe(0);
});

describe("told to stop", () => {
  const isOver = async (stopped: Promise<void>): Promise<boolean> =>
    Promise.race([stopped.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);

  test("it keeps its lease with its sockets until that ends, and says that no caller may get the browser", async () => {
    const { keeper, answer, bound } = setUp();
    await bound(lease("a", 1));
    const stopped = keeper.stop();
    const socket = new PassThrough();
    expect(keeper.admit("a", socket)).toBe("admitted");
    expect(await keeper.bind(lease("a", 1))).toBe("bound");
    expect(await isOver(stopped)).toBe(false);
    const ending = keeper.end(lease("a", 1));
    answer(true);
    expect(await ending).toBe("stopping");
    expect(socket.destroyed).toBe(true);
    await stopped;
  });

  test("no further lease is taken, and the present lease stays", async () => {
    const { keeper, bound } = setUp();
    await bound(lease("a", 1));
    const stopped = keeper.stop();
    expect(await keeper.bind(lease("b", 2))).toBe("stopping");
    expect(keeper.state()).toMatchObject({ lease: { session_id: "a" }, fence: { epoch: 1, seq: 1 } });
    expect(await isOver(stopped)).toBe(false);
  });

  test("a bind that waits for the browser fails, and nothing is waited for", async () => {
    const { keeper, answer } = setUp();
    const binding = keeper.bind(lease("a", 1));
    await keeper.stop();
    answer(true);
    expect(await binding).toBe("stopping");
    expect(holder(keeper)).toBeUndefined();
  });
});

describe("the idle timer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const open = (keeper: LeaseKeeper): PassThrough => {
    const socket = new PassThrough();
    expect(keeper.admit("a", socket)).toBe("admitted");
    return socket;
  };
  const close = async (socket: PassThrough): Promise<void> => {
    socket.destroy();
    await vi.advanceTimersByTimeAsync(0);
  };

  // LEASE-31, LEASE-32
  test("runs from the bind for the lease's timeout", async () => {
    const { onOver, bound } = setUp();
    await bound(lease("a", 1));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(onOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onOver).toHaveBeenCalledOnce();
  });

  test("is stopped by a socket and starts over when the last one closes", async () => {
    const { keeper, onOver, bound } = setUp();
    await bound(lease("a", 1));
    const [one, other] = [open(keeper), open(keeper)];
    await close(one);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onOver).not.toHaveBeenCalled();
    await close(other);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(onOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onOver).toHaveBeenCalledOnce();
  });

  test("is not stopped by a glance, which ends with the lease", async () => {
    const { keeper, onOver, bound } = setUp();
    await bound(lease("a", 1));
    const glance = new PassThrough();
    expect(keeper.admit("a", glance, "glance")).toBe("admitted");
    expect(keeper.state().lease?.connections).toBe(0);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(onOver).not.toHaveBeenCalled();
    const used = open(keeper);
    await close(used);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(onOver).toHaveBeenCalledOnce();
    await bound(lease("b", 2));
    expect(glance.destroyed).toBe(true);
  });

  // LEASE-32
  test.each(["ended", "closed"])(
    "does not outlive a lease that is %s, nor do its sockets start it again",
    async (how) => {
      const { keeper, onOver, answer, bound } = setUp();
      await bound(lease("a", 1));
      open(keeper);
      if (how === "closed") keeper.close();
      else void keeper.end(lease("a", 1));
      answer(true);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(onOver).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test("of a lease is not touched by late closes of the sockets of the one before", async () => {
    const { keeper, onOver, bound } = setUp();
    await bound(lease("a", 1));
    open(keeper);
    await bound(lease("b", 2, { timeout_seconds: 5 }));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(onOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onOver).toHaveBeenCalledOnce();
  });
});

describe("calls of the holder", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // FILE-11
  test("are a use of the browser: the idle time begins when the last of them is over", async () => {
    const { keeper, onOver, bound } = setUp();
    await bound(lease("a", 1));
    const calls = [keeper.enter("a"), keeper.enter("a")];
    await vi.advanceTimersByTimeAsync(60_000);
    for (const call of calls) {
      expect(onOver).not.toHaveBeenCalled();
      expect(keeper.isUsed()).toBe(true);
      if (typeof call === "string") throw new Error(call);
      call.done();
      call.done();
      await vi.advanceTimersByTimeAsync(9_000);
    }
    expect(onOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onOver).toHaveBeenCalledExactlyOnceWith("timeout");
  });

  // FILE-10
  test("are those of the session that holds the browser, so many at once, and end with its lease", async () => {
    const { keeper, bound } = setUp();
    await bound(lease("a", 1));
    expect(keeper.enter("b")).toBe("session_not_found");
    const calls = Array.from({ length: 33 }, () => keeper.enter("a"));
    expect(calls.pop()).toBe("too_many_requests");
    await bound(lease("b", 2));
    for (const call of calls) expect(typeof call === "string" || call.signal.aborted).toBe(true);
    expect(keeper.enter("a")).toBe("session_not_found");
    expect(keeper.enter("b")).toMatchObject({ signal: { aborted: false } });
    keeper.close();
  });
});

describe("connections for fills", () => {
  test("are one at a time; when it closes, or the lease ends, there can be another one", async () => {
    const { keeper, bound } = setUp();
    await bound(lease("a", 1));
    const first = new PassThrough();
    expect(keeper.admit("a", first, "fill")).toBe("admitted");
    expect(keeper.admit("a", new PassThrough(), "fill")).toBe("fill_in_progress");
    expect(keeper.admit("a", new PassThrough())).toBe("admitted");
    first.destroy();
    await once(first, "close");
    const second = new PassThrough();
    expect(keeper.admit("a", second, "fill")).toBe("admitted");
    await bound(lease("b", 2));
    expect(second.destroyed).toBe(true);
    expect(keeper.admit("b", new PassThrough(), "fill")).toBe("admitted");
    keeper.close();
  });
});
