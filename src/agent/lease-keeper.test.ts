import { once } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../log.ts";
import type { BindLease } from "../protocol/agent-api.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./lease-keeper.ts";

const lease = (session_id: string, seq: number, more: Partial<BindLease> = {}): BindLease => ({
  session_id,
  epoch: 1,
  seq,
  timeout_seconds: 10,
  request: "{}",
  ...more,
});

/** A keeper whose browser answers when the test says so. */
const setUp = () => {
  const checks: ((healthy: boolean) => void)[] = [];
  const opened: string[] = [];
  const onIdle = vi.fn();
  const keeper = createLeaseKeeper({
    podUid: "pod",
    browser: { isHealthy: () => new Promise((resolve) => checks.push(resolve)), open: (url) => opened.push(url) },
    onIdle,
    log: createLogger("silent", "test"),
  });
  const answer = (healthy: boolean): void => checks.shift()?.(healthy);
  const bound = async (request: BindLease): Promise<void> => {
    const outcome = keeper.bind(request);
    answer(true);
    expect(await outcome).toBe("bound");
  };
  return { keeper, opened, onIdle, answer, bound };
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
  const ending = keeper.end(lease("a", 1));
  expect(socket.destroyed).toBe(true);
  answer(false);
  expect(await ending).toBe("browser_unhealthy");
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
    const { onIdle, bound } = setUp();
    await bound(lease("a", 1));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  test("is stopped by a socket and starts over when the last one closes", async () => {
    const { keeper, onIdle, bound } = setUp();
    await bound(lease("a", 1));
    const [one, other] = [open(keeper), open(keeper)];
    await close(one);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onIdle).not.toHaveBeenCalled();
    await close(other);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  // LEASE-32
  test.each(["ended", "closed"])(
    "does not outlive a lease that is %s, nor do its sockets start it again",
    async (how) => {
      const { keeper, onIdle, answer, bound } = setUp();
      await bound(lease("a", 1));
      open(keeper);
      if (how === "closed") keeper.close();
      else void keeper.end(lease("a", 1));
      answer(true);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(onIdle).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test("of a lease is not touched by late closes of the sockets of the one before", async () => {
    const { keeper, onIdle, bound } = setUp();
    await bound(lease("a", 1));
    open(keeper);
    await bound(lease("b", 2, { timeout_seconds: 5 }));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onIdle).toHaveBeenCalledOnce();
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
