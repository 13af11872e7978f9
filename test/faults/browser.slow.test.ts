/** Browsers and agents that die or hang, and callers that hang up, on local mode as a user runs it. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pods } from "../../src/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { browserPid, fullPool, openCdp, type PoolClient } from "../support/pool-client.ts";
import { freeze, isAlive, processesOf } from "../support/processes.ts";
import { connectRawCdp, evaluate } from "../support/raw-cdp.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let leases: LeaseView;
let pool: PoolClient;

beforeAll(async () => {
  stack = await startProject();
  leases = await viewLeases(stack.redis_url, stack.kube, stack.namespace);
  pool = await fullPool(stack.call, 2);
});
afterAll(async () => {
  leases?.close();
  await stack?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // Releases what a failed test still holds, so that the next test does not fail too.
  for (const session_id of await sessionsNow()) await pool.release({ session_id });
  await pool.whenCounts({ acquired: 0, available: 2 });
});

const sessionsNow = async (): Promise<string[]> => {
  const active = (await (await stack.call("GET", "/browsers")).json()) as { session_id: string }[];
  return active.map(({ session_id }) => session_id);
};

const idlePids = async (): Promise<number[]> =>
  Promise.all((await leases.podsIn(pool.id, "idle")).map((uid) => browserPid(stack.dataDir, uid)));
const heldPid = async (sessionId: string): Promise<number> =>
  browserPid(stack.dataDir, await leases.podOf(pool.id, sessionId));
const agentPid = async (podUid: string): Promise<number> => {
  const agents = await processesOf(`${stack.dataDir}/pods/${podUid}`);
  const agent = agents.find(({ commandLine }) => commandLine.includes("main.ts agent"));
  if (!agent) throw new Error(`no agent of pod ${podUid}`);
  return agent.pid;
};
const worksFor = async (session: { cdp_ws_url: string }): Promise<void> => {
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("Chrome");
  cdp.close();
};

describe("an idle browser", () => {
  // LEASE-39
  test("that is killed is never handed out, not even before its end is noticed, and is replaced", async () => {
    for (let round = 0; round < 3; round++) {
      await pool.whenCounts({ acquired: 0, available: 2 });
      const [first, second] = await idlePids();
      process.kill(round % 2 === 0 ? (first ?? 0) : (second ?? 0), "SIGKILL");
      const sessions = await Promise.all([pool.acquire(), pool.acquire()]);
      const held = await Promise.all(sessions.map(({ session_id }) => heldPid(session_id)));
      expect(await Promise.all(held.map(isAlive))).toEqual([true, true]);
      await Promise.all(sessions.map(worksFor));
      await Promise.all(sessions.map((session) => pool.release(session)));
    }
  });

  // LEASE-39
  test("that hangs refuses its lease, and the caller gets another one", async () => {
    const stopped = await idlePids();
    // Hangs the browser that is handed out first; the other one stays healthy.
    const [hanging = 0] = stopped;
    await freeze(hanging);
    const sessions = await Promise.all([pool.acquire(), pool.acquire()]);
    const held = await Promise.all(sessions.map(({ session_id }) => heldPid(session_id)));
    expect(held).not.toContain(hanging);
    await Promise.all(sessions.map(worksFor));
    await eventually("the hanging browser is gone", async () => !(await isAlive(hanging)));
    await Promise.all(sessions.map((session) => pool.release(session)));
  });
});

describe("a leased browser", () => {
  // LEASE-34, LEASE-22
  test("that is killed ends its lease: the socket closes, the session says why and when, and a new browser replaces it", async () => {
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    await cdp.version();
    const beganMs = Date.now();
    process.kill(await heldPid(session.session_id), "SIGKILL");
    await cdp.closed;
    const path = `/browsers/${session.session_id}`;
    const answer = await eventually("the session has ended", async () => {
      const response = await stack.call("GET", path);
      return response.status === 404 && response;
    });
    const { message } = (await answer.json()) as { message: string };
    const [, why, when] = /has ended \((\w+)\) at (\S+)$/.exec(message) ?? [];
    expect(why).toBe("browser_crashed");
    expect(Math.abs(Date.parse(when ?? "") - beganMs)).toBeLessThan(30_000);
    const ended = await (await stack.call("GET", `${path}?include_deleted=true`)).json();
    expect(ended).toMatchObject({ session_id: session.session_id, deleted_at: when, end_reason: "browser_crashed" });
    await expect(openCdp(session)).rejects.toThrow("404");
    expect(await pool.release(session)).toBe(404);
  });

  test("that loses its agent ends too, and with it the agent's Chromium", async () => {
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    const browser = await heldPid(session.session_id);
    process.kill(await agentPid(await leases.podOf(pool.id, session.session_id)), "SIGKILL");
    await cdp.closed;
    await eventually("its browser is gone", async () => !(await isAlive(browser)));
    const ended = await eventually("the session has ended", async () => {
      const response = await stack.call("GET", `/browsers/${session.session_id}`);
      return response.status === 404 && ((await response.json()) as { message: string });
    });
    expect(ended.message).toContain("has ended (browser_lost)");
  });

  // LEASE-43
  test("that hangs is not offered again after its release", async () => {
    const session = await pool.acquire();
    const hanging = await heldPid(session.session_id);
    await freeze(hanging);
    expect(await pool.release(session)).toBeLessThan(300);
    await eventually("the hanging browser is gone", async () => !(await isAlive(hanging)));
  });
});

test("an agent that is killed while its browser is idle is replaced, and callers get a working browser", async () => {
  // Fails when an acquire is refused, a browser does not work, or the old one is not gone in time.
  const [uid = ""] = await leases.podsIn(pool.id, "idle");
  const browser = await browserPid(stack.dataDir, uid);
  process.kill(await agentPid(uid), "SIGKILL");
  const sessions = await Promise.all([pool.acquire(), pool.acquire()]);
  await Promise.all(sessions.map(worksFor));
  await eventually("its browser is gone", async () => !(await isAlive(browser)));
  await Promise.all(sessions.map((session) => pool.release(session)));
});

test("after these tests only the pool's pods are left", async () => {
  const { items } = await stack.kube.list(pods, { namespace: stack.namespace });
  expect(items).toHaveLength(2);
});

describe("a caller that hangs up", () => {
  /** Sends an acquire and hangs up at this moment. Returns the session if the answer came first. */
  const acquireAndHangUp = (moment: Promise<unknown>): Promise<string | undefined> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" };
      const asked = request(
        `${stack.url}/browser_pools/${pool.id}/acquire`,
        { method: "POST", headers },
        (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("close", () => resolve(response.complete ? JSON.parse(text).session_id : undefined));
        },
      );
      asked.on("error", () => resolve(undefined));
      asked.end('{"acquire_timeout_seconds": 20}');
      const hangUp = (): void => void asked.destroy();
      moment.then(hangUp, hangUp);
    });

  test("while it waits takes no browser, and the next caller gets it", async () => {
    const sessions = [await pool.acquire(), await pool.acquire()];
    const waits = eventually(
      "it waits",
      async () => (await leases.store.snapshot(await leases.uidOf(pool.id))).waiting === 1,
    );
    expect(await acquireAndHangUp(waits)).toBeUndefined();
    await waits;
    const next = pool.acquire();
    await Promise.all(sessions.map((session) => pool.release(session)));
    await pool.release(await next);
    await pool.whenCounts({ acquired: 0, available: 2 });
  });

  /** The number of acquires that were answered with a session, as the API counts them. */
  const deliveredAnswers = async (): Promise<number> => {
    const metrics = await (await fetch(`${stack.url}/metrics`)).text();
    const line = /^browserpool_http_request_duration_seconds_count\{(?=.*acquire)(?=.*status="200").*\} (\d+)$/m.exec(
      metrics,
    );
    return Number(line?.[1] ?? 0);
  };

  // LEASE-5
  test("in the instant of the grant leaves the browser to the pool, at whatever moment that is", async () => {
    const kept = await pool.acquire(); // so that only one browser is left
    const delivered = await deliveredAnswers();
    let answered = 0;
    for (let round = 0; round < 50; round++) {
      const session_id = await acquireAndHangUp(sleep(Math.random() * 30));
      if (!session_id) continue;
      answered++;
      await pool.release({ session_id });
    }
    // A session stays leased when the API answered before it saw the hang-up: it can't know that the caller did not read the
    // answer.
    const unread = (await deliveredAnswers()) - delivered - answered;
    const left = await eventually("nothing else is held", async () => {
      const sessions = (await sessionsNow()).filter((id) => id !== kept.session_id);
      return sessions.length === unread && sessions;
    });
    for (const session_id of left) await pool.release({ session_id });
    await pool.whenCounts({ acquired: 1, available: 1 });
    expect(answered).toBeLessThan(50);
    await pool.release(kept);
  });
});

describe("a change of a browser in use", () => {
  const wanted = { viewport: { width: 640, height: 480 } };
  const change = (id: string) => stack.call("PATCH", `/browsers/${id}`, wanted);
  /** Stops the session's agent in the moment before it is asked. */
  const frozenAgent = async ({ session_id }: { session_id: string }): Promise<number> => {
    const pid = await agentPid(await leases.podOf(pool.id, session_id));
    await freeze(pid);
    return pid;
  };

  // BROWSER-29, LEASE-34
  test("whose agent dies is answered, and the session ends", async () => {
    const session = await pool.acquire();
    const pid = await frozenAgent(session);
    const asked = change(session.session_id);
    process.kill(pid, "SIGKILL");
    expect([404, 503]).toContain((await asked).status);
    await eventually("the session has ended", async () => (await change(session.session_id)).status === 404);
  });

  // BROWSER-28, BROWSER-29
  test("whose session ends is 404, and the next holder finds nothing of it", async () => {
    const session = await pool.acquire();
    const pid = await frozenAgent(session);
    const asked = change(session.session_id);
    const released = pool.release(session);
    await eventually("it has ended", async () => !(await sessionsNow()).includes(session.session_id));
    process.kill(pid, "SIGCONT");
    await released;
    expect((await asked).status).toBe(404);
    await pool.whenCounts({ acquired: 0, available: 2 });
    for (const next of await Promise.all([pool.acquire(), pool.acquire()])) {
      const cdp = await connectRawCdp(next.cdp_ws_url);
      expect(await evaluate(cdp, "innerWidth")).toBe(1920);
      await cdp.close();
      await pool.release(next);
    }
  });
});
