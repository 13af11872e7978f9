/**
 * What watches a session, through the Service and under the NetworkPolicies: live view, telemetry, logs, WebDriver
 * BiDi, replays.
 */
import { deepStrictEqual } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "puppeteer-core";
import { telemetryCategories } from "../../../src/core/model/settings/telemetry.ts";
import { ids } from "../../../src/features/recordings/webm/ebml.ts";
import { openViewer, untilTab } from "../../support/viewer-socket.ts";
import type { Lane, Phase } from "../lane.ts";
import { callOf } from "./call.ts";

const page = "data:text/html,<title>watched</title><body onclick=\"document.title='clicked'\">watched";

type Held = { session_id: string; cdp_ws_url: string; webdriver_ws_url: string; browser_live_view_url: string };

const withSession = async <T>(lane: Lane, work: (session: Held) => Promise<T>): Promise<T> => {
  const call = callOf(lane);
  const browser = Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }]));
  const session = await call("POST", "/browsers", { headless: true, telemetry: { enabled: true, browser } });
  try {
    return await work(session as unknown as Held);
  } finally {
    await call("DELETE", `/browsers/${session.session_id}`);
  }
};

const openPage = async ({ cdp_ws_url }: Held): Promise<AsyncDisposable> => {
  const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const [tab] = await browser.pages();
  if (!tab) throw new Error("no page");
  await tab.goto(page);
  return { [Symbol.asyncDispose]: () => browser.disconnect() };
};

/** A person clicks into the page, and it changes. */
const clickInView = async (lane: Lane): Promise<string> =>
  withSession(lane, async (session) => {
    await using _page = await openPage(session);
    const answer = await fetch(session.browser_live_view_url);
    if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error(`the page is ${answer.status}`);
    const viewer = await openViewer(session.browser_live_view_url);
    try {
      await untilTab(viewer, "watched");
      const { width, height } = viewer.latest() ?? (await viewer.nextPicture());
      for (const phase of ["down", "up"])
        viewer.send({
          type: "mouse",
          action: phase,
          x: 20,
          y: 20,
          button: "left",
          buttons: 1,
          clicks: 1,
          modifiers: 0,
        });
      await untilTab(viewer, "clicked");
      return `pictures of ${width} × ${height}`;
    } finally {
      await viewer.close();
    }
  });

/** Every kind of event that the page gives rise to is read as it comes. */
const readEvents = async (lane: Lane): Promise<string> =>
  withSession(lane, async (session) => {
    const stream = await lane.stack.kernel.browsers.telemetry.stream(session.session_id, { replay: "all" });
    await using _page = await openPage(session);
    const wanted = new Set(["cdp_connect", "cdp_command", "page_navigation", "page_load", "system_usage"]);
    const numbers: number[] = [];
    for await (const { seq, event } of stream) {
      numbers.push(seq);
      wanted.delete(event.type);
      if (wanted.size === 0) break;
    }
    deepStrictEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
    return `${numbers.length} events without a gap`;
  });

const driveByBidi = async (lane: Lane): Promise<void> =>
  withSession(lane, async ({ webdriver_ws_url }) => {
    const browser = await connect({ browserWSEndpoint: webdriver_ws_url, protocol: "webDriverBiDi" });
    const tab = await browser.newPage();
    await tab.goto(page);
    deepStrictEqual(await tab.title(), "watched");
    await browser.disconnect();
  });

const readLog = async (lane: Lane): Promise<void> =>
  withSession(lane, async ({ session_id }) => {
    const log = await lane.stack.kernel.browsers.logs.stream(session_id, {
      source: "supervisor",
      supervisor_process: "agent",
    });
    const lines: string[] = [];
    for await (const { message } of log) lines.push(message);
    if (!lines.some((line) => line.includes("lease bound")))
      throw new Error(`the agent's log has ${lines.length} lines`);
  });

/** The video comes from the pod that recorded it, by the replica that collected it, out of the store of blobs. */
const recordSession = async (lane: Lane): Promise<string> =>
  withSession(lane, async (session) => {
    const { replays } = lane.stack.kernel.browsers;
    const { session_id: id } = session;
    await using _page = await openPage(session);
    const { replay_id } = await replays.start(id);
    await sleep(3000);
    await replays.stop(replay_id, { id });
    const [listed] = await replays.list(id);
    const answer = await fetch(listed?.replay_view_url ?? "");
    const video = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200 || video.readUInt32BE(0) !== ids.ebml) throw new Error(`no video: ${answer.status}`);
    const downloaded = await (await replays.download(replay_id, { id })).arrayBuffer();
    deepStrictEqual(Buffer.from(downloaded).equals(video), true);
    return `a video of ${Math.round(video.length / 1024)} KiB`;
  });

export const watch: Phase = {
  name: "watch",
  summary: "live view, telemetry, logs, WebDriver BiDi and replays of a session through the Service",
  async run(lane, check) {
    await check("somebody clicks in the live view, and sees what becomes of it", () => clickInView(lane));
    await check("telemetry events are read as they come", () => readEvents(lane));
    await check("a client of WebDriver BiDi drives the browser", () => driveByBidi(lane));
    await check("the agent's log is read", () => readLog(lane));
    await check("a recording is made, stored and downloaded", () => recordSession(lane));
  },
};
