/**
 * Browsers and leases are conserved, at every point that the scripts recorded and at the end.
 *
 *   records   a browser leaves the state in which it was, and is leased exactly while one lease names it
 *   end       leased + idle + starting + ending = pods = size: after the load all pods are ready, idle and known
 */
import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { FinalPool } from "../history/run-event.ts";
import type { Check, Violation } from "./check.ts";
import { type LeaseModel, replayLeases } from "./lease-replay.ts";
import { groupBy } from "./views.ts";

/** What is wrong between the leases and the browsers' records; undefined when nothing is. */
const mismatch = ({ states, leases, isWhole }: LeaseModel): string | undefined => {
  const holders = new Map<string, string>();
  for (const [session, browser] of leases) {
    const other = holders.get(browser);
    if (other !== undefined) return `sessions ${other} and ${session} both have a lease of browser ${browser}`;
    holders.set(browser, session);
    const state = states.get(browser);
    if (state && (state.state !== "leased" || state.session !== session))
      return `session ${session} has a lease of browser ${browser}, which is ${state.state} for ${state.session ?? "nobody"}`;
  }
  for (const [browser, { state }] of states)
    if (state === "leased" && isWhole && !holders.has(browser))
      return `browser ${browser} is leased, and there is no lease of it`;
  return undefined;
};

const records = (entries: EventOf<"lease">[]): Violation[] => {
  const violations: Violation[] = [];
  replayLeases(entries, {
    before(change, { states, isWhole }, event) {
      if (change.what !== "state") return;
      const was = states.get(change.browser)?.state ?? (isWhole ? "none" : change.from);
      if (was !== change.from)
        violations.push({
          what: `browser ${change.browser} was ${was}, and ${event.script} found it ${change.from}`,
          events: [event],
        });
    },
    after(model, event) {
      const what = mismatch(model);
      if (what) violations.push({ what: `after ${event.script}: ${what}`, events: [event] });
    },
  });
  return violations;
};

const finalFaults = ({ name, size, browsers, leases, waiters, pods }: FinalPool): string[] => {
  const known = new Map(browsers.map((browser) => [browser.id, browser]));
  const ready = pods.filter((pod) => pod.ready);
  return [
    ...(pods.length === size ? [] : [`${pods.length} pods instead of ${size}`]),
    ...(ready.length === pods.length ? [] : [`${pods.length - ready.length} pods are not ready`]),
    ...pods.filter(({ browser }) => !known.has(browser)).map(({ pod }) => `${pod} is not known to the leases`),
    ...browsers
      .filter(({ id }) => !pods.some(({ browser }) => browser === id))
      .map(({ pod, state }) => `${pod} is recorded as ${state}, and it is gone`),
    ...browsers
      .filter(({ state }) => state !== "idle")
      .map(({ pod, state, session }) => `${pod} is ${state}${session ? ` for ${session}` : ""}, and nobody uses it`),
    ...pods.filter(({ marked }) => marked).map(({ pod }) => `${pod} shows that it is in use, and nobody uses it`),
    ...leases.map(({ session }) => `session ${session} still has its lease`),
    ...waiters.map((session) => `session ${session} still waits`),
  ].map((fault) => `pool ${name} at the end: ${fault}`);
};

export const nothingLost: Check = {
  name: "nothing-lost",
  kind: "safety",
  promise: "leased, idle, starting and ending browsers are the pods, at every step and at the end",
  find: (events) => [
    ...[...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()].flatMap(records),
    ...ofKind(events, "end").flatMap((end) =>
      end.pools.flatMap(finalFaults).map((what): Violation => ({ what, events: [] })),
    ),
  ],
};
