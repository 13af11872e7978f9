/**
 * The first phase of an agent whose browser needs more than its pod says (protocol/browser-setup.ts). The operator sends it:
 *
 *   PUT /setup              BrowserSetup, sealed → 200 MissingArchives
 *   PUT /archives/{sha256}  the bytes, sealed    → 200 MissingArchives
 *
 *   waiting ──the setup, and then no archive missing──► complete
 *
 * Both calls can be repeated. A new setup replaces the one before it until it is complete. Then Chromium starts.
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, open, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Logger } from "../log.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type ArchiveRef, BrowserSetup, maxSetupBytes } from "../protocol/browser-setup.ts";
import { openStream, openText } from "../protocol/sealed-bytes.ts";
import type { AgentConfig } from "./agent-config.ts";
import { ok, parseBody, type Routes, startAgentHttp } from "./agent-http.ts";
import { type AgentReply, refusal, refusals } from "./agent-reply.ts";

/** Time for one call, ms: an archive can be large. */
const requestTimeoutMs = 10 * 60_000;

/** A browser's setup, complete with its archives. */
export type ReceivedSetup = {
  setup: BrowserSetup;
  /** The file of an archive of the setup. Whoever uses it checks that it is still as it was sent. */
  archive(ref: ArchiveRef): string;
};

/** The folder of archives; a reset leaves it alone. */
export const archivesDir = ({ dataDir }: AgentConfig): string => join(dataDir, "archives");

const archivesOf = ({ extensions, profile }: BrowserSetup): ArchiveRef[] => [
  ...extensions,
  ...(profile ? [profile] : []),
];

/** Writes an archive to a new file. Returns its digest; undefined when it has another length. */
const writeArchive = async (
  archive: AsyncIterable<Buffer>,
  file: string,
  bytes: number,
): Promise<string | undefined> => {
  await using handle = await open(file, "wx", 0o400);
  const hash = createHash("sha256");
  let length = 0;
  for await (const chunk of archive) {
    length += chunk.length;
    if (length > bytes) return undefined;
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return length === bytes ? hash.digest("hex") : undefined;
};

export type ReceiveSetupDeps = { config: AgentConfig; verify: VerifyAgentToken; log: Logger };

/** Serves until the setup is complete. Rejects when it can't listen, or `signal` is aborted. */
export const receiveSetup = async (
  { config, verify, log }: ReceiveSetupDeps,
  signal: AbortSignal,
): Promise<ReceivedSetup> => {
  const folder = archivesDir(config);
  // A container that starts again finds the folder of the one before it, closed as below.
  await chmod(folder, 0o700).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const complete = Promise.withResolvers<BrowserSetup>();
  const kept = new Set<string>();
  const incoming = new Map<string, IncomingMessage>();
  let setup: BrowserSetup | undefined;
  let writes = 0;

  const missing = (): string[] => {
    const wanted = setup ? archivesOf(setup).map(({ sha256 }) => sha256) : [];
    return [...new Set(wanted)].filter((sha256) => !kept.has(sha256));
  };
  const answer = (): AgentReply => {
    const left = missing();
    if (setup && left.length === 0) complete.resolve(setup);
    return { status: 200, body: { missing: left } };
  };
  const putArchive = async (request: IncomingMessage): Promise<AgentReply> => {
    const sha256 = request.url?.split("/").at(-1) ?? "";
    const wanted = setup && archivesOf(setup).find((ref) => ref.sha256 === sha256);
    if (!wanted) return refusals.not_found;
    if (kept.has(sha256)) return answer();
    // An operator that sends an archive again has given up the first call, or is another one. The disk has room for each archive once.
    incoming.get(sha256)?.destroy();
    incoming.set(sha256, request);
    writes += 1;
    const file = join(folder, `incoming-${writes}`);
    try {
      const digest = await writeArchive(openStream(config.agentKey, request), file, wanted.bytes).catch(
        () => undefined,
      );
      if (digest !== sha256) return refusal("bad_request", "the bytes are not those of this archive");
      await rename(file, join(folder, sha256));
      kept.add(sha256);
      return answer();
    } finally {
      await rm(file, { force: true });
      if (incoming.get(sha256) === request) incoming.delete(sha256);
    }
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
    return { setup: whole, archive: ({ sha256 }) => join(folder, sha256) };
  } finally {
    signal.removeEventListener("abort", stop);
    server.close();
  }
};
