import { createHash } from "node:crypto";
import { Agent, type Dispatcher } from "undici";
import { type AgentPlace, type Called, createCallAgent } from "../../core/leases/agent/agent-call.ts";
import type { SetupClientDeps } from "../../core/leases/agent/setup-client.ts";
import type { ArchiveRef } from "../../core/protocol/browser-setup.ts";
import { ProfileSaveState } from "../../core/protocol/profile-save.ts";
import { openStream } from "../../core/protocol/sealed-bytes.ts";

/** Deadline for a connection and for a call without an archive, ms. */
const connectMs = 2000;
const callTimeoutMs = 3000;

/** Time without a byte of an archive, ms. */
const silenceMs = 10_000;

/** Largest answer but an archive that is read, bytes. */
const maxAnswerBytes = 16 * 1024;

/** The archive did not come whole: the agent is gone, or something else answers at its address. */
export class ArchiveBroken extends Error {
  override name = "ArchiveBroken";
}

/** Calls to an agent that keeps its browser's profile (core/protocol/profile-save.ts). */
export type ProfileClient = {
  state(agent: AgentPlace): Promise<Called<{ state: ProfileSaveState }>>;
  /**
   * The archive of the state `packed`. Its reader gets an `ArchiveBroken` at the latest in place of the end if these
   * are other bytes.
   */
  archive(agent: AgentPlace, archive: ArchiveRef, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  /** The agent may end. Never throws. */
  done(agent: AgentPlace): Promise<Called<{ state: ProfileSaveState }>>;
  close(): Promise<void>;
};

const broken = (why: string, cause?: unknown): ArchiveBroken =>
  new ArchiveBroken(`the archive did not come whole from the browser's agent: ${why}`, { cause });

/** The same bytes. Throws an `ArchiveBroken` for others. */
const checked = async function* (
  opened: AsyncIterable<Uint8Array>,
  { sha256, bytes }: ArchiveRef,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let length = 0;
  for await (const chunk of opened) {
    length += chunk.length;
    if (length > bytes) throw broken("it has more bytes than the agent said");
    hash.update(chunk);
    yield chunk;
  }
  if (length !== bytes || hash.digest("hex") !== sha256) throw broken("its digest is another one");
};

/** The caller must call `close`. */
export const createProfileClient = (deps: SetupClientDeps): ProfileClient => {
  const dispatcher: Dispatcher = new Agent({ connect: { timeout: connectMs }, connections: 2, bodyTimeout: silenceMs });
  const small: Dispatcher = new Agent({
    connect: { timeout: connectMs },
    connections: 1,
    maxResponseSize: maxAnswerBytes,
  });
  const call = createCallAgent(small, deps);
  const read = (answer: unknown): { state: ProfileSaveState } => ({ state: ProfileSaveState.parse(answer) });
  const ask = (agent: AgentPlace, method: "GET" | "DELETE") =>
    call({ method, agent, path: "/profile", timeoutMs: callTimeoutMs, read });
  const open = async (agent: AgentPlace, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const answer = await dispatcher.request({
      origin: `http://${agent.address}`,
      path: "/profile/archive",
      method: "GET",
      headers: { authorization: `Bearer ${deps.tokens.tokenFor(agent.browser)}` },
      headersTimeout: callTimeoutMs,
      signal,
    });
    if (answer.statusCode === 200) return answer.body;
    await answer.body.dump({ limit: maxAnswerBytes });
    throw broken(`it answered ${answer.statusCode}`);
  };
  return {
    state: (agent) => ask(agent, "GET"),
    done: (agent) => ask(agent, "DELETE"),
    async *archive(agent, archive, signal) {
      try {
        const sealed = await open(agent, signal);
        yield* checked(openStream(deps.keys.keyOf(agent.pod), sealed), archive);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof ArchiveBroken ? error : broken(error instanceof Error ? error.name : "unknown", error);
      }
    },
    async close() {
      await Promise.all([dispatcher.destroy(), small.destroy()]);
    },
  };
};
