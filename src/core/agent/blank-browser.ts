/**
 * The first phase of an agent whose browser is blank: a lease takes it, and its holder says which browser it wants
 * (core/protocol/browser-start.ts).
 *
 *            bind           PUT /start          no archive missing
 *   blank ◄───────► held ──────────────► given ─────────────────────► starting ──► up
 *            end      │                    │                             │
 *                     └──── timeout ───────┴───── the lease is over ─────┴──► over
 *
 * blank     no Chromium, nothing of any holder. Any lease may have it.
 * given     it is for this one lease. Every other bind is refused from now on.
 * starting  Chromium starts, while these calls are still served. Then another server takes over (`handOver`).
 * over      for good: the agent ends.
 */
import type { KeyObject } from "node:crypto";
import { chmod } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Logger } from "../../platform/base/log.ts";
import type { BindLease, Termination } from "../protocol/agent-api.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { maxSetupBytes } from "../protocol/browser-setup.ts";
import { StartBrowser } from "../protocol/browser-start.ts";
import { openText } from "../protocol/sealed-bytes.ts";
import type { AgentConfig } from "./agent-config.ts";
import { leaseOver, onlyLeaseOver } from "./agent-ends.ts";
import { type AgentServer, ok, parseBody, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusals } from "./agent-reply.ts";
import { type ArchiveFolder, createArchiveFolder, isAt, missingIn } from "./archive-folder.ts";
import { archivesDir } from "./files-dir.ts";
import { createLeaseKeeper, type LeaseKeeper } from "./lease-keeper.ts";
import { leaseRoutes } from "./lease-routes.ts";
import { archivesOf, type ReceivedSetup } from "./receive-setup.ts";

/** Time for one call, ms: an archive can be large. */
const requestTimeoutMs = 10 * 60_000;

/** There is nothing yet that a holder could have used, or left. */
const nothing: Parameters<typeof createLeaseKeeper>[0]["browser"] = {
  isHealthy: async () => true,
  open: () => undefined,
  reset: async () => undefined,
  change: async () => "browser_unhealthy",
  freeTabs: async () => ({ isFree: true, closed: 0 }),
  clearFiles: async () => true,
};

/** What the holder has asked for. */
export type GivenBrowser = {
  /** The agent's, with the browser that is wanted. */
  config: AgentConfig;
  received: ReceivedSetup | undefined;
  /**
   * Ends this phase, so that another server can listen. Returns the lease, which goes on, and the epoch under which the
   * agent was asked last; undefined when the lease is over.
   */
  handOver(): { lease: BindLease; epoch: number } | undefined;
  /** Answers the holder: the browser is up, or does not come. Resolves when that is sent. */
  answer(isUp: boolean): Promise<void>;
};

type Deps = { config: AgentConfig; verify: VerifyAgentToken; log: Logger };

type StartRouteDeps = {
  agentKey: KeyObject;
  leases: Pick<LeaseKeeper, "isHeldBy">;
  archives: ArchiveFolder;
  /** The browser is for this lease alone from now on. */
  onlyLease(): void;
};

/** The calls of the holder. `onGiven`: called once all of it is here. */
const startRoutes = (
  { agentKey, leases, archives, onlyLease }: StartRouteDeps,
  onGiven: (wanted: StartBrowser) => Promise<AgentReply>,
): Routes => {
  let wanted: StartBrowser | undefined;
  const missing = (): string[] => (wanted?.setup ? missingIn(archivesOf(wanted.setup), archives) : []);
  const putStart = async (request: IncomingMessage): Promise<AgentReply> => {
    const read = await parseBody(request, StartBrowser, {
      maxBytes: maxSetupBytes,
      open: (bytes) => openText(agentKey, bytes),
    });
    if ("refused" in read) return read.refused;
    if (!leases.isHeldBy(read.body)) return refusals.not_holder;
    onlyLease();
    // A repetition asks for the same.
    wanted ??= read.body;
    const left = missing();
    return left.length > 0 ? { status: 200, body: { missing: left } } : onGiven(wanted);
  };
  const putArchive = async (request: IncomingMessage): Promise<AgentReply> => {
    const archive = wanted?.setup && archivesOf(wanted.setup).find(isAt(request.url));
    if (!archive) return refusals.not_found;
    const isHere = archives.has(archive.sha256) || (await archives.receive(request, archive));
    return isHere ? { status: 200, body: { missing: missing() } } : refusals.other_archive;
  };
  return { "/start": { PUT: putStart }, "/archives/": { PUT: putArchive } };
};

/**
 * Serves until the holder of a lease has given all that its browser needs; `over` when that lease is over before.
 * Rejects when it can't listen, or `signal` is aborted.
 */
export const serveBlankBrowser = async (
  { config, verify, log }: Deps,
  signal: AbortSignal,
): Promise<{ given: GivenBrowser } | { over: Termination }> => {
  const folder = archivesDir(config);
  const archives = await createArchiveFolder(folder, config.agentKey);
  const over = Promise.withResolvers<Termination>();
  const leases = createLeaseKeeper({
    podUid: config.podUid,
    browser: nothing,
    onOver: (reason) => over.resolve({ reason, message: leaseOver[reason] }),
    log,
  });
  const { address, port, agentKey } = config;
  const onlyLease = (): void => void leases.stop().then(() => over.resolve(onlyLeaseOver));
  const given = Promise.withResolvers<StartBrowser>();
  const started = Promise.withResolvers<AgentReply>();
  const routes = {
    "/livez": { GET: async () => ok },
    "/readyz": { GET: async () => ok },
    ...leaseRoutes(leases, () => ({})),
    ...startRoutes({ agentKey, leases, archives, onlyLease }, (wanted) => {
      given.resolve(wanted);
      return started.promise;
    }),
  };
  const server: AgentServer = await startAgentHttp({ address, port, verify, agentKey, routes, requestTimeoutMs, log });
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const close = (): void => {
    leases.close();
    server.close();
  };
  log.info({ port: server.port }, "blank browser ready");
  try {
    const first = await Promise.race([given.promise, over.promise, stopped.promise]);
    if ("reason" in first) {
      // Who has ended the lease gets its answer.
      await server.finish();
      close();
      return { over: first };
    }
    // No download of the browser can add to it.
    await chmod(folder, 0o500);
    const { browser, setup } = first;
    return {
      given: {
        config: { ...config, browser },
        received: setup && { setup, archive: archives.file },
        handOver() {
          const lease = leases.bound();
          const { epoch } = leases.state().fence;
          leases.close();
          server.stopListening();
          return lease && { lease, epoch };
        },
        async answer(isUp) {
          started.resolve(isUp ? { status: 200, body: { missing: [] } } : refusals.browser_unhealthy);
          await server.finish();
          close();
        },
      },
    };
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
};
