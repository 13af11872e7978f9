/**
 * Writes values into the fields of one page of a browser. It knows only the browser's CDP endpoint, nothing else of the
 * service.
 *
 *     connect ─► choose page ─► open frames ─► locate all fields ──► choose targets ─► write 0 ─► write 1 ─► … ─► completed
 *        │            │              │                │                    │              │           │
 *        └────────────┴──────────────┴────────────────┴────────────────────┘              ├───────────┴─► failed
 *                     FillRefused: nothing was written                                    └─────────────► unknown
 *
 * - It writes nothing before every field is found, unique and editable. Until then every failure is a `FillRefused`,
 *   also the deadline (`browser_not_ready`).
 * - From the first write on there is a result. A write is one turn in the page: it checks the field again, writes, and
 *   checks that the value is there (in-page/fields.js). The first field that isn't filled ends the fill: `failed` when
 *   its outcome is known, `unknown` when its write was sent and no answer came. Written values stay.
 * - A field is named by its number in its frame's isolated world, which ends with the document. So no write can reach
 *   another element, document or origin than the checked ones: it fails with `target_changed`.
 * - One deadline covers the whole fill. It cuts the connection, so nothing waits longer; and the page itself refuses a
 *   write that it runs after the deadline.
 * - It submits nothing and navigates nowhere. In the page it only emulates a focus, and only if the page has none:
 *   otherwise a tab in the background fires no `focus`, `blur` and `change`. The browser undoes that when the
 *   connection ends. It enables no CDP domain: with `Page` enabled the browser would keep dialogs open for an answer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type CdpConnection, connectCdp } from "../../../platform/cdp/cdp-connection.ts";
import { CdpBusy, CdpClosed, CdpRefused } from "../../../platform/cdp/cdp-errors.ts";
import type { CdpAddress } from "../../../platform/cdp/cdp-socket.ts";
import { choosePage, chooseTargets, frameFilter, type Target } from "./choose-targets.ts";
import { type Binding, type FieldResult, FillRefused, type FillResult } from "./fill-result.ts";
import { fieldErrors } from "./fill-wire.ts";
import { callInFrame, openFrames } from "./frames.ts";
import { type FrameFields, locateFields, unlockFields } from "./locate-fields.ts";
import { type Write, writeFields } from "./write-fields.ts";

/**
 * How long after its last write a fill looks at its fields again, ms: pages check what was typed, and render, after 50
 * to 250.
 */
const settleMs = 300;

/** What of the time is left for the looks and the answer, ms. */
const answerMs = 200;

const Problem = z.enum(fieldErrors).optional();

/**
 * Looks at the filled fields once more, after a while: a page may have emptied or replaced one when it lost the focus,
 * or by a timer. A page that has gone on meanwhile has taken the values. Never rejects. `leftMs`: until the deadline of
 * the fill.
 */
const settleFields = async (
  cdp: CdpConnection,
  { writes, results, leftMs }: { writes: Write[]; results: FieldResult[]; leftMs: number },
  signal: AbortSignal,
): Promise<FieldResult[]> => {
  const filled = results.filter(({ status }) => status === "filled");
  const waitMs = Math.min(settleMs, leftMs - answerMs);
  if (filled.length === 0 || waitMs <= 0) return results;
  const look = async (result: FieldResult): Promise<FieldResult> => {
    const target = writes[result.index]?.target;
    if (result.status !== "filled" || !target) return result;
    const problem = Problem.safeParse(await callInFrame(cdp, target.frame, "settled", [target.id, target.selector]));
    return problem.data ? { ...result, status: "failed", error_code: problem.data } : result;
  };
  try {
    await sleep(waitMs, undefined, { signal });
  } catch {
    return results;
  }
  // A document that is gone can't be asked.
  return Promise.all(results.map((result) => look(result).catch(() => result)));
};

export type FillRequest = {
  /** The browser's DevTools. */
  connect: CdpAddress;
  /** The URL of an open page, fragment included; undefined: the only open page. */
  pageUrl?: string | undefined;
  /** For the whole fill, at most 30000. */
  timeoutMs: number;
  /** 1 to 50, written in this order. */
  bindings: Binding[];
  /** Origins as `https://host`; a field's frame and all frames around it must have one of them. Undefined: any. */
  allowedOrigins?: string[] | undefined;
};

type PreparedPage = { origin: string; targets: Target[]; isScripted: boolean };

/** Emulates a focus for the page and the frames with fields, as if the tab were in front. */
const emulateFocus = (cdp: CdpConnection, sessionIds: string[]): void => {
  // It does not wait: the browser handles these calls before the writes. If they fail, the fields are written all the
  // same.
  for (const sessionId of new Set(sessionIds))
    cdp.send("Emulation.setFocusEmulationEnabled", { enabled: true }, { sessionId }).catch(() => undefined);
};

const framesWithFields = (located: FrameFields[]): FrameFields[] =>
  located.filter(({ found }) => found.some(({ editable, locked }) => editable.length > 0 || locked.length > 0));

const preparePage = async (cdp: CdpConnection, request: FillRequest, endsAtMs: number): Promise<PreparedPage> => {
  const { pageUrl, bindings, allowedOrigins } = request;
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  const targetId = choosePage(targetInfos, pageUrl);
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  const frames = await openFrames(cdp, sessionId);
  const selectors = bindings.map(({ selector }) => selector);
  const located = await locateFields(cdp, frames, { selectors, limitMs: endsAtMs - performance.now() });
  const main = located.find(({ frame }) => frame.parent === undefined);
  if (!main) throw new FillRefused("browser_not_ready");
  // For a page that is navigating, the browser's list has the new URL; `main.url` is the present document's.
  if (pageUrl !== undefined && main.url !== pageUrl) throw new FillRefused("page_not_found");
  if (!main.hasFocus) emulateFocus(cdp, [sessionId, ...framesWithFields(located).map(({ frame }) => frame.sessionId)]);
  const isAllowed = frameFilter(located, allowedOrigins);
  const targets = chooseTargets(await unlockFields(cdp, located, isAllowed), selectors, isAllowed);
  return { origin: main.origin, targets, isScripted: located.some((frame) => frame.isScripted) };
};

const statusOf = (fields: FieldResult[]): FillResult["status"] => {
  if (fields.some(({ status }) => status === "unknown")) return "unknown";
  return fields.every(({ status }) => status === "filled") ? "completed" : "failed";
};

/** The error for a failure before the first write. `isLate`: whether the deadline has cut the connection. */
const refusalOf = (error: unknown, { signal, isLate }: { signal: AbortSignal; isLate: boolean }): unknown => {
  if (signal.aborted) return signal.reason;
  if (error instanceof CdpBusy) return new FillRefused("fill_in_progress");
  if (error instanceof CdpRefused || error instanceof CdpClosed)
    return new FillRefused("browser_not_ready", undefined, { isLate });
  return error;
};

/**
 * Fills the fields of one page, and detaches from it. Throws `FillRefused` for a failure before the first write, and
 * the signal's reason when it is aborted before that; a later abort ends the fill like a lost connection.
 */
export const fillPage = async (request: FillRequest, signal: AbortSignal): Promise<FillResult> => {
  const endsAtMs = performance.now() + request.timeoutMs;
  const deadline = new AbortController();
  await using parts = new AsyncDisposableStack();
  const timer = setTimeout(() => deadline.abort(), request.timeoutMs);
  parts.defer(() => clearTimeout(timer));
  try {
    const ending = AbortSignal.any([signal, deadline.signal]);
    const cdp = parts.use(await connectCdp(request.connect, ending));
    const { origin, targets, isScripted } = await preparePage(cdp, request, endsAtMs);
    const writes = request.bindings.flatMap((binding, index) => {
      const target = targets[index];
      return target ? [{ binding, target }] : [];
    });
    const results = await writeFields(cdp, writes, deadline.signal);
    const settling = { writes, results, leftMs: endsAtMs - performance.now() };
    const fields = isScripted ? await settleFields(cdp, settling, ending) : results;
    return { status: statusOf(fields), fields, origin };
  } catch (error) {
    throw refusalOf(error, { signal, isLate: deadline.signal.aborted });
  }
};
