/**
 * A history as text that people read: a line an event, ms since the first one, and in front of each the faults at work.
 *
 *      ms  faults  what
 *    1203  A·      api-a       call     client-3 acquire …
 *    1207  AB      pod-x7k2    bound    session s1 under 1.4
 */
import type { Finding } from "./checks/all-checks.ts";
import { faultSpansOf } from "./checks/views.ts";
import type { EventOf, HistoryEvent } from "./history/history.ts";
import type { LeaseChange } from "./history/lease-event.ts";

const short = (id: string | undefined): string => id?.slice(-8) ?? "-";

const changeText = (change: LeaseChange): string => {
  switch (change.what) {
    case "state":
      return `${short(change.browser)} ${change.from}→${change.to}${change.reason ? ` (${change.reason})` : ""}`;
    case "queued":
      return `${short(change.session)} queued with ${change.ticket}`;
    case "granted":
    case "restored":
    case "ended":
      return `${short(change.session)} ${change.what} on ${short(change.browser)} ${change.epoch}.${change.seq}`;
    case "epoch":
      return `epoch ${change.epoch}`;
    default:
      return `${short(change.session)} ${change.what}`;
  }
};

const agentText = ({ what, session, holder, epoch, seq, code, command }: EventOf<"agent">): string => {
  const fence = epoch === undefined ? "" : ` ${epoch}.${seq ?? "?"}`;
  const of = session === undefined ? "" : ` ${short(session)}`;
  const more = [
    code,
    command,
    holder !== undefined && holder !== session ? `held by ${short(holder ?? "nobody")}` : "",
  ];
  return [`${what}${of}${fence}`, ...more].filter(Boolean).join(" ");
};

type Line = [who: string, what: string];

const podText = ({ change, phase, ready, deletionAt, endedReason = "" }: EventOf<"pod">): string =>
  `pod ${change} ${phase}${ready ? " ready" : ""}${deletionAt ? " deleting" : ""} ${endedReason}`;

const processText = ({ what, pid, signal, code, message = "" }: EventOf<"process">): string =>
  `${what} ${pid} ${signal ?? code ?? ""} ${message}`;

/** Who tells of it, and what. */
const describers: { [Kind in HistoryEvent["kind"]]: (event: EventOf<Kind>) => Line } = {
  call: ({ client, op, session, id }) => [client, `→ ${op} ${session ? short(session) : ""} ${id}`],
  return: ({ client, op, outcome, session, id, detail = "" }) => [
    client,
    `← ${op} ${outcome} ${session ? short(session) : ""} ${id} ${detail}`,
  ],
  lease: ({ pool, script, changes }) => [`redis ${short(pool)}`, `${script}: ${changes.map(changeText).join(", ")}`],
  agent: (event) => [short(event.browser), agentText(event)],
  pod: (event) => [short(event.browser), podText(event)],
  pool: ({ name, phase, what, size = "", outcome = "" }) => [name, `${phase} ${what} ${size} ${outcome}`],
  fault: ({ phase, fault, details = {} }) => ["fault", `${phase} ${fault} ${JSON.stringify(details)}`],
  process: (event) => [event.name, processText(event)],
  mark: ({ mark }) => ["run", mark],
  history: ({ seed, faults }) => ["run", `seed ${seed}, faults ${faults.join(" ")}`],
  end: ({ pools }) => ["run", `end: ${pools.map(({ name, browsers }) => `${name} ${browsers.length}`).join(", ")}`],
};

const describe = <Kind extends HistoryEvent["kind"]>(event: EventOf<Kind>): Line =>
  describers[event.kind as Kind](event);

/** What an event is about. */
const subjects = (event: HistoryEvent): string[] => {
  if (event.kind === "lease")
    return event.changes.flatMap((change) => [
      ...("session" in change && change.session ? [change.session] : []),
      ...("browser" in change ? [change.browser] : []),
    ]);
  const ids = [
    "session" in event ? event.session : undefined,
    "browser" in event ? event.browser : undefined,
    event.kind === "call" || event.kind === "return" ? event.id : undefined,
  ];
  return ids.filter((id) => id !== undefined);
};

/** Events that belong to every timeline. */
const isFrame = ({ kind }: HistoryEvent): boolean =>
  kind === "fault" || kind === "mark" || kind === "process" || kind === "pool" || kind === "history";

/** What has to do with the findings' own events; the call of an operation and its return go together by its id. */
const relevant = (events: HistoryEvent[], findings: Finding[]): HistoryEvent[] => {
  const wanted = new Set(findings.flatMap(({ events: proof }) => proof.flatMap(subjects)));
  return events.filter((event) => isFrame(event) || subjects(event).some((id) => wanted.has(id)));
};

/** `findings`: only what has to do with them is shown; left out or empty: everything. */
export const timelineOf = (events: HistoryEvent[], findings: Finding[] = []): string => {
  const startMs = events[0]?.at ?? 0;
  const spans = faultSpansOf(events);
  const letter = (index: number): string => String.fromCharCode(65 + (index % 26));
  const band = (atMs: number): string =>
    spans.flatMap(({ fromMs, untilMs }, index) => (fromMs <= atMs && atMs <= untilMs ? [letter(index)] : [])).join("");
  const shown = findings.some((finding) => finding.events.length > 0) ? relevant(events, findings) : events;
  const lines = shown.map((event) => {
    const [who, what] = describe(event);
    return `${(event.at - startMs).toFixed(1).padStart(9)}  ${band(event.at).padEnd(4)}  ${who.padEnd(14)}  ${what.trimEnd()}`;
  });
  const legend = spans.map(({ fault }, index) => `${letter(index)} ${fault}`);
  return [`faults: ${legend.join(", ") || "none"}`, ...lines].join("\n");
};
