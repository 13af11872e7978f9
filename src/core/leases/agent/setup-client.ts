import { Readable } from "node:stream";
import { Agent } from "undici";
import { AgentState } from "../../protocol/agent-api.ts";
import type { AgentKeys } from "../../protocol/agent-key.ts";
import type { BrowserChange } from "../../protocol/browser-change.ts";
import { type ArchiveRef, type BrowserSetup, MissingArchives } from "../../protocol/browser-setup.ts";
import type { StartBrowser } from "../../protocol/browser-start.ts";
import { sealStream, sealText } from "../../protocol/sealed-bytes.ts";
import type { MaskValues } from "../../protocol/telemetry-api.ts";
import { type AgentCallDeps, type AgentPlace, type Called, createCallAgent } from "./agent-call.ts";
import type { AgentAnswer } from "./agent-client.ts";

/**
 * Longest answer, bytes: the digests of a setup's archives are far below it. What is at a pod's address may be
 * anything.
 */
const maxAnswerBytes = 64 * 1024;

/** Deadline for a connection, ms. */
const connectMs = 2000;

/** Deadline of a call without an archive, ms, and of one with the largest archive. */
const callTimeoutMs = 10_000;
const archiveTimeoutMs = 5 * 60_000;

/** Deadline of a change, and of the start of a blank browser, ms: the agent gives up a start of Chromium after 40 s. */
const changeTimeoutMs = 50_000;

/**
 * Calls to an agent that waits for its browser's setup (core/agent/receive-setup.ts), whose browser is changed for its
 * holder (core/agent/change-routes.ts) or blank (core/agent/blank-browser.ts), or that a vault is about to fill
 * (features/telemetry/agent/telemetry-routes.ts). None throws. Everything is sealed for that agent.
 */
export type SetupClient = {
  /** The answer has the digests of the archives that the agent still misses. */
  sendSetup(agent: AgentPlace, setup: BrowserSetup): Promise<Called<MissingArchives>>;
  /** The answer has the digests of the archives that the agent still misses: with any, nothing has changed. */
  sendChange(agent: AgentPlace, change: BrowserChange): Promise<Called<MissingArchives>>;
  /**
   * Which browser the holder of a blank one wants (core/protocol/browser-start.ts). The answer has the digests of the
   * archives that the agent still misses: with none, the browser is up.
   */
  sendStart(agent: AgentPlace, start: StartBrowser): Promise<Called<MissingArchives>>;
  /** Once it is answered, the agent keeps these values out of all events of the lease that holds its browser then. */
  sendMasks(agent: AgentPlace, masks: MaskValues): Promise<AgentAnswer>;
  /** `body` can be read once: after a failure the caller opens it again. */
  sendArchive(
    agent: AgentPlace,
    archive: ArchiveRef,
    body: AsyncIterable<Uint8Array>,
  ): Promise<Called<MissingArchives>>;
  close(): Promise<void>;
};

/** Whose calls agents take, and how their answers and keys are known. */
export type SetupClientDeps = AgentCallDeps & { keys: Pick<AgentKeys, "challenge" | "keyOf"> };

/** The caller must call `close`. */
export const createSetupClient = (deps: SetupClientDeps): SetupClient => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    connections: 2,
    maxResponseSize: maxAnswerBytes,
  });
  const call = createCallAgent(dispatcher, deps);
  const read = (answer: unknown): MissingArchives => MissingArchives.parse(answer);
  const keyOf = (agent: AgentPlace) => deps.keys.keyOf(agent.pod);
  return {
    sendSetup: (agent, setup) =>
      call({
        method: "PUT",
        agent,
        path: "/setup",
        body: () => sealText(keyOf(agent), JSON.stringify(setup)),
        timeoutMs: callTimeoutMs,
        read,
      }),
    sendChange: (agent, change) =>
      call({
        method: "PUT",
        agent,
        path: "/change",
        body: () => sealText(keyOf(agent), JSON.stringify(change)),
        timeoutMs: changeTimeoutMs,
        read,
      }),
    sendStart: (agent, start) =>
      call({
        method: "PUT",
        agent,
        path: "/start",
        body: () => sealText(keyOf(agent), JSON.stringify(start)),
        timeoutMs: changeTimeoutMs,
        read,
      }),
    sendMasks: (agent, masks) =>
      call({
        method: "PUT",
        agent,
        path: "/masks",
        body: () => sealText(keyOf(agent), JSON.stringify(masks)),
        timeoutMs: callTimeoutMs,
        read: (answer) => ({ state: AgentState.parse(answer) }),
      }),
    sendArchive: (agent, { sha256 }, body) =>
      call({
        method: "PUT",
        agent,
        path: `/archives/${sha256}`,
        body: () => Readable.from(sealStream(keyOf(agent), body), { objectMode: false }),
        timeoutMs: archiveTimeoutMs,
        read,
      }),
    close: () => dispatcher.destroy(),
  };
};
