/**
 * Extensions that a holder loads into its browser. They are its session's alone: their archives are kept for the case
 * that another Chromium starts for the same holder, and the reset after its lease removes them.
 */
import { createHash } from "node:crypto";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { holderExtensionsDir } from "../../../core/agent/browser.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import type { LeaseFollower, LeaseKeeper } from "../../../core/agent/lease-keeper.ts";
import { SetupRefused } from "../../../core/agent/setup-refused.ts";
import { loadExtensions } from "../calls.ts";
import { type ReceivedExtension, receiveExtensions } from "./receive-extensions.ts";

type HolderExtensions = LeaseFollower & { handlers: readonly CallHandler[] };

type Deps = {
  config: Pick<AgentConfig, "dataDir">;
  /** Number of those that the browser was made with. */
  present: number;
  leases: () => Pick<LeaseKeeper, "change" | "state">;
};

/** The same for a name in all browsers, and no id of a stored extension. */
const idOf = (name: string): string => createHash("sha256").update(`session ${name}`).digest("hex");

/** Goes along with a lease. Calls are carried out one after the other. */
export const createHolderExtensions = ({ config, present, leases }: Deps): HolderExtensions => {
  const folder = holderExtensionsDir(config);
  let loaded: readonly ReceivedExtension[] = [];
  let last: Promise<unknown> = Promise.resolve();

  /** Rejects with a `CallRefused`. */
  const load = async (received: readonly ReceivedExtension[]): Promise<void> => {
    const { lease } = leases().state();
    if (!lease) throw new CallRefused("not_found", "the session has ended");
    const { session_id, epoch, seq } = lease;
    const files = new Map(received.map(({ sha256, file }) => [sha256, file]));
    const archives = {
      has: (sha256: string) => files.has(sha256),
      file: ({ sha256 }: { sha256: string }) => files.get(sha256) ?? "",
    };
    const extensions = received.map(({ name, sha256, bytes }) => ({ id: idOf(name), name, sha256, bytes }));
    const outcome = await leases()
      .change({ session_id, epoch, seq, extensions }, archives)
      .catch((error: unknown) => {
        throw error instanceof SetupRefused ? new CallRefused("bad_request", `extensions: ${error.message}`) : error;
      });
    if (outcome !== "changed") throw new CallRefused("browser_unhealthy", `the browser is not as it was: ${outcome}`);
  };

  const handler = callHandler(loadExtensions, ({ request, signal }) => {
    const work = async (): Promise<object> => {
      signal.throwIfAborted();
      await using received = await receiveExtensions(request, { folder, loaded, present }, signal);
      signal.throwIfAborted();
      await load(received.extensions);
      // Another lease may have begun.
      signal.throwIfAborted();
      loaded = [...loaded, ...received.keep()];
      return {};
    };
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  });
  return {
    handlers: [handler],
    begin() {
      loaded = [];
    },
    end: () => undefined,
  };
};
