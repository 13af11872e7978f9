/**
 * The last phase of an agent whose browser saves its profile (core/protocol/profile-save.ts): Chromium is closed, its
 * profile is packed into a file, and the operator fetches that.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Routes } from "../../../core/agent/agent-http.ts";
import { type AgentReply, refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { Browser } from "../../../core/agent/browser.ts";
import type { ArchiveRef } from "../../../core/protocol/browser-setup.ts";
import { keepProfileSeconds, type ProfileSaveState } from "../../../core/protocol/profile-save.ts";
import { sealStream } from "../../../core/protocol/sealed-bytes.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { awaitWith } from "../../../platform/base/retry.ts";

/** Longest time to pack a profile, ms. The largest takes some seconds. */
const packMs = 120_000;

const maxWhy = 300;

export type ProfileSave = {
  routes: Routes;
  /**
   * Closes and packs the browser, and resolves when the operator needs the archive no longer: it has said so, the
   * deadline is over, or `signal` is aborted. Rejects never.
   */
  run(browser: Pick<Browser, "close">, isUsed: boolean, signal: AbortSignal): Promise<void>;
};

/** Few browsers have a profile to save: its code is loaded for them alone. */
const pack = async (folder: string, file: string, signal: AbortSignal): Promise<ArchiveRef> => {
  const { packProfile } = await import("../archive/pack-profile.ts");
  await using handle = await open(file, "wx", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of packProfile(folder, { signal })) {
    hash.update(chunk);
    bytes += chunk.byteLength;
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), bytes };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** `saveTo`: the uid of the profile. */
export const createProfileSave = (
  saveTo: string,
  { config, log }: { config: Pick<AgentConfig, "dataDir" | "agentKey">; log: Logger },
): ProfileSave => {
  const acknowledged = Promise.withResolvers<void>();
  let endedMs = 0;
  let archive = "";
  let result: ArchiveRef | { why: string } | "unused" | "packing" | undefined;

  const state = (): ProfileSaveState => {
    if (result === undefined) return { is: "running" };
    const ended = { save_to: saveTo, ended_ms_ago: Math.round(performance.now() - endedMs) };
    if (typeof result === "string") return { is: result, ...ended };
    return "why" in result ? { is: "failed", ...ended, ...result } : { is: "packed", ...ended, ...result };
  };
  const answer = (): AgentReply => ({ status: 200, body: state() });
  const closeAndPack = async (
    browser: Pick<Browser, "close">,
    signal: AbortSignal,
  ): Promise<ArchiveRef | { why: string }> => {
    try {
      const folder = await awaitWith(browser.close(), signal);
      return await pack(folder, archive, AbortSignal.any([signal, AbortSignal.timeout(packMs)]));
    } catch (error) {
      return { why: messageOf(error).slice(0, maxWhy) };
    }
  };
  return {
    routes: {
      "/profile": {
        GET: async () => answer(),
        DELETE: async () => {
          if (result === undefined || result === "packing")
            return refusal("not_ended", "the browser has not ended, or its profile is being packed");
          acknowledged.resolve();
          return answer();
        },
      },
      "/profile/archive": {
        GET: async () => {
          if (state().is !== "packed") return refusals.not_found;
          return { status: 200, body: sealStream(config.agentKey, createReadStream(archive)) };
        },
      },
    },
    async run(browser, isUsed, signal) {
      endedMs = performance.now();
      result = "packing";
      // A name that no download has taken.
      const folder = await mkdtemp(join(config.dataDir, "save-"));
      archive = join(folder, "profile.tar.zst");
      result = isUsed ? await closeAndPack(browser, signal) : "unused";
      log.info({ ms: Math.round(performance.now() - endedMs), ...state() }, "the profile waits to be fetched");
      const late = AbortSignal.timeout(keepProfileSeconds * 1000);
      const over = AbortSignal.any([signal, late]);
      await Promise.race([acknowledged.promise, aborted(over)]);
      if (over.aborted) log.warn({}, "nobody has taken the profile");
      await rm(folder, { recursive: true, force: true });
    },
  };
};
