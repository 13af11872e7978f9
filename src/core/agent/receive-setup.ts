/**
 * The first phase of an agent whose browser needs more than its pod says (core/protocol/browser-setup.ts). The operator
 * sends it:
 *
 *   PUT /setup              BrowserSetup, sealed → 200 MissingArchives
 *   PUT /archives/{sha256}  the bytes, sealed    → 200 MissingArchives
 *
 *   waiting ──the setup, and then no archive missing──► complete
 *
 * Both calls can be repeated. A new setup replaces the one before it until it is complete. Then Chromium starts.
 */
import { chmod } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Logger } from "../../platform/base/log.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type ArchiveRef, BrowserSetup, maxSetupBytes } from "../protocol/browser-setup.ts";
import { openText } from "../protocol/sealed-bytes.ts";
import type { AgentConfig } from "./agent-config.ts";
import { ok, parseBody, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusals } from "./agent-reply.ts";
import { createArchiveFolder, isAt, missingIn } from "./archive-folder.ts";
import { archivesDir } from "./files-dir.ts";

/** Time for one call, ms: an archive can be large. */
const requestTimeoutMs = 10 * 60_000;

/** A browser's setup, complete with its archives. */
export type ReceivedSetup = {
  setup: BrowserSetup;
  /** The file of an archive of the setup. Whoever uses it checks that it is still as it was sent. */
  archive(ref: ArchiveRef): string;
};

/** What a setup has sent by itself. */
export const archivesOf = ({ extensions, profile }: BrowserSetup): ArchiveRef[] => [
  ...extensions,
  ...(profile ? [profile] : []),
];

type ReceiveSetupDeps = { config: AgentConfig; verify: VerifyAgentToken; log: Logger };

/** Serves until the setup is complete. Rejects when it can't listen, or `signal` is aborted. */
export const receiveSetup = async (
  { config, verify, log }: ReceiveSetupDeps,
  signal: AbortSignal,
): Promise<ReceivedSetup> => {
  const folder = archivesDir(config);
  const archives = await createArchiveFolder(folder, config.agentKey);
  const complete = Promise.withResolvers<BrowserSetup>();
  let setup: BrowserSetup | undefined;

  const answer = (): AgentReply => {
    const missing = setup ? missingIn(archivesOf(setup), archives) : [];
    if (setup && missing.length === 0) complete.resolve(setup);
    return { status: 200, body: { missing } };
  };
  const putArchive = async (request: IncomingMessage): Promise<AgentReply> => {
    const wanted = setup && archivesOf(setup).find(isAt(request.url));
    if (!wanted) return refusals.not_found;
    const isHere = archives.has(wanted.sha256) || (await archives.receive(request, wanted));
    return isHere ? answer() : refusals.other_archive;
  };
  const routes: Routes = {
    "/livez": { GET: async () => ok },
    "/readyz": { GET: async () => refusals.awaits_setup },
    "/setup": {
      PUT: async (request) => {
        const read = await parseBody(request, BrowserSetup, {
          maxBytes: maxSetupBytes,
          open: (bytes) => openText(config.agentKey, bytes),
        });
        if ("refused" in read) return read.refused;
        setup = read.body;
        return answer();
      },
    },
    "/archives/": { PUT: putArchive },
  };
  const { address, port, agentKey } = config;
  const server = await startAgentHttp({ address, port, verify, agentKey, routes, requestTimeoutMs, log });
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const whole = await Promise.race([complete.promise, stopped.promise]);
    await server.finish();
    // No download of the browser can add to it.
    await chmod(folder, 0o500);
    return { setup: whole, archive: archives.file };
  } finally {
    signal.removeEventListener("abort", stop);
    server.close();
  }
};
