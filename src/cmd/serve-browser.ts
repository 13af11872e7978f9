/** The agent from the moment at which its browser is up: most of its code, so it is loaded while Chromium starts. */

import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "../core/agent/agent-config.ts";
import { leaseOver, onlyLeaseOver, stopped } from "../core/agent/agent-ends.ts";
import type { AgentServer } from "../core/agent/agent-http.ts";
import { startAgentServer } from "../core/agent/agent-server.ts";
import type { GivenBrowser } from "../core/agent/blank-browser.ts";
import { type Browser, changeArchivesDir } from "../core/agent/browser.ts";
import { callRoutes } from "../core/agent/call-routes.ts";
import { type CalledFeature, onFirstCall, onFirstClient } from "../core/agent/called-feature.ts";
import type { OverReason } from "../core/agent/held-lease.ts";
import type { GuestDeps } from "../core/agent/join-guest.ts";
import { createLeaseKeeper, type LeaseKeeper } from "../core/agent/lease-keeper.ts";
import type { ReceivedSetup } from "../core/agent/receive-setup.ts";
import { sessionStreams } from "../core/agent/session-streams.ts";
import { createFillTimes, type FillTimes } from "../core/agent/shown-pages.ts";
import type { AgentStartStep, StepTimes } from "../core/agent/step-times.ts";
import { LeaseEnd, type Termination } from "../core/protocol/agent-api.ts";
import { createAgentTokenVerifier } from "../core/protocol/agent-token.ts";
import { leftRoutes } from "../features/files/agent/left-routes.ts";
import { createLeaseLogs, type LeaseLogs } from "../features/logs/agent/lease-logs.ts";
import { logRoutes } from "../features/logs/agent/log-routes.ts";
import { createProfileSave, type ProfileSave } from "../features/profiles/agent/save-profile.ts";
import { recordingRoutes } from "../features/recordings/agent/recording-routes.ts";
import { createRecordings, type Recordings } from "../features/recordings/agent/recordings.ts";
import { startOutcomes } from "../features/sites/agent/start-outcomes.ts";
import { createSessionTelemetry } from "../features/telemetry/agent/session-telemetry.ts";
import { telemetryRoutes } from "../features/telemetry/agent/telemetry-routes.ts";
import { createBidiServer } from "../features/webdriver/agent/serve-bidi.ts";
import { createLogger, type Logger } from "../platform/base/log.ts";
import type { StopSignals } from "./stop-signals.ts";

/** What an agent says: `log` is its logger, whose lines `logs` gets too, for the holder. */
export type AgentLogs = { logs: LeaseLogs; log: Logger };

/** `level`: of the agent's logger. */
export const createAgentLogs = (level: string): AgentLogs => {
  const logs = createLeaseLogs();
  return { logs, log: createLogger(level, "agent", undefined, logs.noteAgent) };
};

/**
 * The last part of the pod's grace period, ms: time to end the browser (2.5 s, browser.ts), and room for a slow
 * machine.
 */
const endingMs = 5000;

/**
 * How long the agent waits at its end until what its lease has left is stored, ms: by itself, and when it was told to
 * stop, since the operator deletes pods with ten seconds of grace.
 */
const storeMs = { byItself: 20_000, told: 6000 };

/** Of the video of a browser without a viewport of its own, pixels. */
const usualSize = { width: 1280, height: 720 };

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

type Serving = AgentLogs & {
  leases: LeaseKeeper;
  recordings: Recordings;
  files: Pick<ReturnType<typeof calledFeatures>["files"], "loaded">;
  server: AgentServer;
  config: AgentConfig;
  saving: ProfileSave | undefined;
  signals: StopSignals;
};

/** Waits for what the lease has left to be stored. The lease is over. */
const allStored = async ({
  recordings,
  files,
  signals,
}: Pick<Serving, "recordings" | "files" | "signals">): Promise<void> => {
  const withinMs = signals.asked.aborted ? storeMs.told : storeMs.byItself;
  await Promise.all([recordings.settled(), files.loaded()?.leftFiles.settled(withinMs)]);
};

/** Stops in order: the agent serves its lease until the lease ends or the pod's grace period is nearly over. */
const endInOrder = async ({
  leases,
  recordings,
  files,
  server,
  config,
  saving,
  signals,
  log,
}: Omit<Serving, "logs">): Promise<Termination> => {
  const seconds = Math.max(0, config.graceMs - endingMs) / 1000;
  const isHeld = leases.state().lease !== null;
  if (isHeld) log.info({ seconds }, "told to stop; the lease is served on");
  const outOfTime = sleep(seconds * 1000, "out of time", { signal: signals.atOnce }).catch(() => "at once");
  const why = await Promise.race([leases.stop().then(() => "lease over"), outOfTime]);
  // The caller that ended the lease must get its answer.
  if (why === "lease over" && !saving) {
    await allStored({ recordings, files, signals });
    await server.finish();
  }
  return isHeld && why === "out of time"
    ? { reason: "stopped", message: `the agent was told to stop, and its lease was not over ${seconds} s later` }
    : stopped;
};

type CalledDeps = GuestDeps & {
  config: AgentConfig;
  received: ReceivedSetup | undefined;
  browser: Browser;
  shownPages: FillTimes;
  leases: () => LeaseKeeper;
  log: Logger;
};

/** What the holder calls. */
const calledFeatures = (deps: CalledDeps) => {
  const { browser, config } = deps;
  const present = deps.received?.setup.extensions.length ?? 0;
  return {
    files: onFirstCall(
      ["fs"],
      async () => (await import("../features/files/agent/session-files.ts")).createSessionFiles(config),
      { isNeeded: ({ keep_files }) => keep_files === true },
    ),
    computer: onFirstCall(["computer"], async () =>
      (await import("../features/computer/agent/computer.ts")).createComputer(deps),
    ),
    code: onFirstCall(["playwright", "repl"], async () =>
      (await import("../features/code/agent/session-code.ts")).createSessionCode(deps),
    ),
    processes: onFirstCall(["process"], async () =>
      (await import("../features/processes/agent/session-processes.ts")).createSessionProcesses(config),
    ),
    drivers: onFirstCall(["webdriver"], async () =>
      (await import("../features/webdriver/agent/session-drivers.ts")).createSessionDrivers(deps),
    ),
    extensions: onFirstCall(["extensions"], async () =>
      (await import("../features/extensions/agent/holder-extensions.ts")).createHolderExtensions({ ...deps, present }),
    ),
    webmcp: onFirstCall(["webmcp"], async () =>
      (await import("../features/webmcp/agent/webmcp.ts")).createWebmcp(deps),
    ),
    curl: onFirstCall(["curl"], async () => (await import("../features/curl/agent/curl.ts")).createCurl(deps)),
    devTools: onFirstCall(["json"], async () =>
      (await import("../features/dev-tools/agent/dev-tools-calls.ts")).createDevToolsCalls(browser.devTools),
    ),
  };
};

/**
 * Goes on with the lease for which the browser was started, as its only one. Rejects when that lease is over, or can't
 * have the browser.
 */
const takeOver = async (
  { handOver }: GivenBrowser,
  leases: Pick<LeaseKeeper, "bind" | "stateUnder" | "stop">,
): Promise<{ over: Promise<Termination> }> => {
  const held = handOver();
  if (!held) throw new Error("its lease was over before it was up");
  const outcome = await leases.bind(held.lease);
  if (outcome !== "bound") throw new Error(`it could not be given to its lease: ${outcome}`);
  leases.stateUnder(held.epoch);
  return { over: leases.stop().then(() => onlyLeaseOver) };
};

/**
 * Serves the browser until it ends, is idle for too long, or a stop is requested; then its profile, if that is to be
 * saved and the browser has not ended by itself. It cuts all connections before it returns.
 */
export const serveBrowser = async (
  {
    config,
    received,
    given,
    signals,
    logs,
    log,
    times,
  }: Pick<Serving, "config" | "signals" | "logs" | "log"> & {
    received: ReceivedSetup | undefined;
    given?: GivenBrowser | undefined;
    times: StepTimes<AgentStartStep>;
  },
  browser: Browser,
): Promise<Termination> => {
  const saveTo = received?.setup.save_to;
  const saving = saveTo === undefined ? undefined : createProfileSave(saveTo, { config, log });
  const over = Promise.withResolvers<OverReason>();
  let ended: LeaseEnd | undefined;
  const fills = createFillTimes();
  const observe = startOutcomes({ config, received, browser, log });
  const telemetry = createSessionTelemetry({ base: config.browser.telemetry, browser, shown: fills, log });
  const recordings = createRecordings({
    ffmpeg: config.programs.ffmpeg,
    dataDir: config.dataDir,
    usualSize: config.browser.viewport ?? usualSize,
    devTools: browser.devTools,
    pageOrder: browser.pageOrder,
    shownPages: fills,
    log,
  });
  const guests: GuestDeps = { browser, admit: (...asked) => leases.admit(...asked), watch: telemetry };
  const called = calledFeatures({ ...guests, browser, config, received, shownPages: fills, leases: () => leases, log });
  const leases: LeaseKeeper = createLeaseKeeper({
    podUid: config.podUid,
    browser,
    onOver: over.resolve,
    observe,
    fills,
    followers: [telemetry, logs, recordings, ...Object.values(called)],
    log,
  });
  const onlyLease = given && (await takeOver(given, leases));
  const server = await startAgentServer({
    address: config.address,
    port: config.port,
    verify: createAgentTokenVerifier(config.publicKey, config.podUid),
    agentKey: config.agentKey,
    leases,
    browser,
    upgrades: {
      "/webdriver": createBidiServer({ browser, prompts: () => called.drivers.loaded()?.bidiPrompts(), log }),
      "/view": onFirstClient(async () =>
        (await import("../features/live-view/agent/live-view.ts")).createLiveView({
          ...browser,
          shownPages: fills,
          mask: telemetry.masked,
        }),
      ),
    },
    watch: telemetry,
    changeArchives: changeArchivesDir(config),
    routes: {
      ...saving?.routes,
      ...telemetryRoutes({ leases, telemetry, agentKey: config.agentKey }),
      ...logRoutes({ leases, logs }),
      ...sessionStreams(leases, "/watches/", (id) => called.files.loaded()?.watches.read(id)),
      ...sessionStreams(leases, "/processes/", (id) => called.processes.loaded()?.read(id)),
      ...leftRoutes({ left: async () => (await called.files.load()).leftFiles, agentKey: config.agentKey }),
      ...callRoutes({ leases, onCall: telemetry.call, features: Object.values<CalledFeature>(called) }),
      ...recordingRoutes({ leases, recordings, agentKey: config.agentKey }),
    },
    ...(saving && { ended: () => ended }),
    log,
  });
  times.ended("serving");
  log.info({ port: server.port, headless: config.browser.headless, steps: times.told() }, "browser ready");
  await given?.answer(true);
  const end = await Promise.race([
    browser.ended,
    ...(onlyLease ? [onlyLease.over] : []),
    over.promise.then((reason): Termination => ({ reason, message: leaseOver[reason] })),
    whenAborted(signals.asked).then(() =>
      endInOrder({ leases, recordings, files: called.files, server, config, saving, signals, log }),
    ),
  ]);
  const isUsed = leases.isUsed();
  if (end.reason === "browser_crashed")
    telemetry.emit("service_crashed", { service_name: "chromium", phase: "running" }, { kind: "local_process" });
  leases.close();
  ended = LeaseEnd.safeParse(end.reason).data;
  if (saving && ended) await saving.run(browser, isUsed, signals.atOnce);
  await allStored({ recordings, files: called.files, signals });
  // Streams of the lease have its last events and lines still to send.
  await server.finish();
  server.close();
  return end;
};
