/** One holder's stay with one browser: ask, look around, leave marks, look again, give back; or see the browser die. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "../../support/pool-client.ts";
import { type RawCdp, withCdp } from "../../support/raw-cdp.ts";
import { killProcess, pidOf } from "./crash.ts";
import type { Ledger } from "./ledger.ts";
import type { Parts } from "./parts.ts";
import type { Crash, StayPlan } from "./schedule.ts";
import { leaveMarks, readMarks } from "./site.ts";

/** How long a caller waits for its turn, s: many times what replacing all browsers takes. */
const patienceSeconds = 60;
/** A stay whose browser says nothing for so long has broken, ms. */
const stayLimitMs = 20_000;

export type StayEnd = "handed-over" | "crashed" | "failed";

/**
 * Kills the crash's victim in a pod; rejects, with nothing done, when the pod has none any more. A Chromium that is
 * killed shortly before or in the release ends when the reset ends it as well, so its browser may come back.
 */
export const killIn = async (pod: string, crash: Crash, { stack }: Parts, ledger: Ledger): Promise<void> => {
  const pid = await pidOf(crash.victim, stack.dataDir, pod);
  ledger.kill(pod, `${crash.moment} ${crash.victim}`);
  await killProcess(pid);
  if (crash.moment === "idle" || crash.victim === "agent") ledger.died(pod, performance.now());
};

/** Does `work` with the session's browser; rejects when the connection breaks or nothing happens for too long. */
const withBrowser = async (session: Session, work: (cdp: RawCdp) => Promise<void>): Promise<void> => {
  const stuck = Promise.withResolvers<never>();
  const limit = setTimeout(() => stuck.reject(new Error(`not done after ${stayLimitMs / 1000} s`)), stayLimitMs);
  try {
    await Promise.race([withCdp(session.cdp_ws_url, work), stuck.promise]);
  } finally {
    clearTimeout(limit);
  }
};

type Visit = { holder: string; pod: string; askedAtMs: number; plan: StayPlan };

const visit =
  (parts: Parts, ledger: Ledger, { holder, pod, askedAtMs, plan }: Visit) =>
  async (cdp: RawCdp) => {
    const { site } = parts;
    const found = await readMarks(cdp, site);
    // A lease that was closed while we connected has no pod any more; then there is nothing to compare with.
    if (pod !== "") ledger.enter({ holder, pod, askedAtMs, found });
    await leaveMarks(cdp, site, { holder, browser: pod });
    await sleep(plan.pauseMs);
    if (pod !== "") ledger.look(holder, await readMarks(cdp, site));
    if (plan.crash?.moment === "held") {
      await killIn(pod, plan.crash, parts, ledger);
      await cdp.closed;
    }
  };

/** Gives the browser back, with a crash around it where the plan has one; the status of the answer. */
const giveBack = async (session: Session, { pod, plan }: Visit, parts: Parts, ledger: Ledger): Promise<number> => {
  const released = parts.pool.release(session, plan.reuse);
  if (plan.crash?.moment === "handing-over") {
    await sleep(plan.crash.afterMs);
    // One that was killed while idle, in the instant in which it was handed out, has no process any more.
    await killIn(pod, plan.crash, parts, ledger).catch(() => undefined);
  }
  return released;
};

/** Never rejects because of the service: whatever it does wrong goes into the ledger. */
export const stayOnce = async (
  { holder, plan }: { holder: string; plan: StayPlan },
  parts: Parts,
  ledger: Ledger,
): Promise<StayEnd> => {
  const { pool, leases } = parts;
  const askedAtMs = performance.now();
  const answer = await pool.ask(patienceSeconds);
  if (answer.status !== 200) {
    const details = { status: answer.status, body: await answer.text() };
    ledger.report({ what: "an acquire was not answered with a browser", holder, pod: "", details });
    return "failed";
  }
  const session = (await answer.json()) as Session;
  const pod = await leases.podOf(pool.id, session.session_id);
  const own: Visit = { holder, pod, askedAtMs, plan };
  try {
    await withBrowser(session, visit(parts, ledger, own));
  } catch (error) {
    ledger.broke({ holder, pod, why: String(error) });
    await pool.release(session, plan.reuse);
    return "failed";
  }
  ledger.leave(holder, plan.reuse ? "reused" : "destroyed");
  if (plan.crash?.moment === "held") {
    await pool.release(session, plan.reuse);
    return "crashed";
  }
  const status = await giveBack(session, own, parts, ledger);
  if (status < 300) return "handed-over";
  if (plan.crash?.moment !== "handing-over")
    ledger.report({ what: "a release was refused", holder, pod, details: { status } });
  return "crashed";
};
