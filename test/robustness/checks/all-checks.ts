import type { HistoryEvent } from "../history/history.ts";
import type { Check, CheckKind, Violation } from "./check.ts";
import { cleanHandOver } from "./clean-hand-over.ts";
import { comesToRest } from "./comes-to-rest.ts";
import { commandsByHolder } from "./commands-by-holder.ts";
import { epochsBind } from "./epochs-bind.ts";
import { exclusiveUse } from "./exclusive-use.ts";
import { fillRate } from "./fill-rate.ts";
import { firstCome } from "./first-come.ts";
import { foreignPodsStay } from "./foreign-pods-stay.ts";
import { heldMeansBound } from "./held-means-bound.ts";
import { holdersKeepBrowsers } from "./holders-keep-browsers.ts";
import { noGrantToTheFrozen } from "./no-grant-to-the-frozen.ts";
import { noStarvation } from "./no-starvation.ts";
import { noVerdictBy401 } from "./no-verdict-by-401.ts";
import { nothingLeftBehind } from "./nothing-left-behind.ts";
import { nothingLost } from "./nothing-lost.ts";
import { oneSessionPerRequest } from "./one-session-per-request.ts";
import { podsWithinSize } from "./pods-within-size.ts";
import { processesLive } from "./processes-live.ts";
import { risingFences } from "./rising-fences.ts";
import { sessionsEnd } from "./sessions-end.ts";
import { ticketsRise } from "./tickets-rise.ts";
import { wrongClockServes } from "./wrong-clock-serves.ts";

/** In the order of weight: what a broken one means for users. */
export const allChecks: readonly Check[] = [
  exclusiveUse,
  cleanHandOver,
  holdersKeepBrowsers,
  risingFences,
  epochsBind,
  commandsByHolder,
  heldMeansBound,
  oneSessionPerRequest,
  firstCome,
  ticketsRise,
  noStarvation,
  noGrantToTheFrozen,
  wrongClockServes,
  nothingLeftBehind,
  nothingLost,
  noVerdictBy401,
  foreignPodsStay,
  sessionsEnd,
  podsWithinSize,
  fillRate,
  comesToRest,
  processesLive,
];

export type Finding = Violation & { check: string; kind: CheckKind };

/** All that is wrong with one history. Growth is a matter of many (no-growth.ts). */
export const checkHistory = (events: HistoryEvent[]): Finding[] =>
  allChecks.flatMap(({ name, kind, find }) => find(events).map((violation) => ({ kind, ...violation, check: name })));
