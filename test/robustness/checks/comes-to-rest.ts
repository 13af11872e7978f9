import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { markOf, operationsOf } from "./views.ts";

/** From the last fault's end or the last caller's, whichever is later, ms. */
const convergenceMs = 30_000;

/** Callers are served again this long after the last fault, ms: leases are recovered within ten seconds. */
const serviceMs = 10_000;

/** Requests are answered, after the faults. */
const unserved = (events: Parameters<Check["find"]>[0]): Violation[] => {
  const over = markOf(events, "faults-over");
  if (!over) return [];
  return operationsOf(events).flatMap(({ call, ended }): Violation[] => {
    const isFailed = ended?.outcome === "error" && (ended.status ?? 500) >= 500;
    if (call.at < over.at + serviceMs || !(isFailed || ended?.outcome === "cut") || call.op === "cdp") return [];
    return [{ what: `${call.op} by ${call.client} failed long after the last fault`, events: [over, call, ended] }];
  });
};

export const comesToRest: Check = {
  name: "comes-to-rest",
  kind: "timing",
  promise:
    "callers are served ten seconds after the last fault, all is in order after thirty, and nobody writes any more",
  find(events) {
    const start = [markOf(events, "faults-over"), markOf(events, "load-over")]
      .filter((mark) => mark !== undefined)
      .toSorted((a, b) => a.at - b.at)
      .at(-1);
    const converged = markOf(events, "converged");
    const isLate = start && (!converged || converged.at - start.at > convergenceMs);
    const writes = ofKind(events, "end").flatMap(({ quiet }) => [
      ...quiet.etcdWrites.map((write) => `etcd: ${write}`),
      ...quiet.redisWrites.map((write) => `Redis: ${write}`),
    ]);
    return [
      ...unserved(events),
      ...(isLate
        ? [
            {
              what: converged
                ? `the service needed ${Math.round(converged.at - start.at)} ms to come to rest`
                : "the service did not come to rest",
              events: [start, ...(converged ? [converged] : [])],
            },
          ]
        : []),
      ...writes.map((write) => ({ what: `somebody still writes though nothing happens: ${write}`, events: [] })),
    ];
  },
};
