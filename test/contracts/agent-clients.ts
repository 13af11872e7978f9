/**
 * The clients of the API and of the operator that speak with agents, by the names that the examples of agent/ give
 * their methods.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { attachGateway, isWebSocketUpgrade } from "../../src/core/gateway/gateway.ts";
import { bindLease } from "../../src/core/leases/acquire-lease.ts";
import type { AgentPlace } from "../../src/core/leases/agent/agent-call.ts";
import { createAgentClient } from "../../src/core/leases/agent/agent-client.ts";
import { createAgentExchanges, type HolderCall } from "../../src/core/leases/agent/agent-exchange.ts";
import { createAgentStreams } from "../../src/core/leases/agent/agent-stream.ts";
import { createSetupClient } from "../../src/core/leases/agent/setup-client.ts";
import type { LeaseRecord, SessionRequest } from "../../src/core/leases/records.ts";
import { buildPod, type PodOwner } from "../../src/core/pools/pod/pod.ts";
import type { Reuse } from "../../src/core/protocol/agent-api.ts";
import type { BrowserChange } from "../../src/core/protocol/browser-change.ts";
import type { ArchiveRef, BrowserSetup } from "../../src/core/protocol/browser-setup.ts";
import type { StartBrowser } from "../../src/core/protocol/browser-start.ts";
import { streamPath } from "../../src/core/protocol/session-stream.ts";
import { signLiveViewToken, signSessionToken } from "../../src/core/protocol/session-token.ts";
import { type CaptureChange, type MaskValues, telemetryPath } from "../../src/core/protocol/telemetry-api.ts";
import { createLeftClient } from "../../src/features/files/left-client.ts";
import { type LogSource, logPath } from "../../src/features/logs/agent/api.ts";
import { createProfileClient } from "../../src/features/profiles/profile-client.ts";
import type { StartRecording } from "../../src/features/recordings/agent/api.ts";
import { createRecordingClient } from "../../src/features/recordings/agent-client.ts";
import { devToolsOf } from "../../src/features/vaults/fill/attached-browser.ts";
import { probeOf, startReadinessProbe } from "../../src/local/kubelet/readiness-probe.ts";
import { splitHostPort } from "../../src/platform/base/host-port.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { openCdpSocket } from "../../src/platform/cdp/cdp-socket.ts";
import { createTracer } from "../../src/platform/tracing/tracer.ts";
import { eventually } from "../support/eventually.ts";
import { aPool } from "../support/observed-pool.ts";
import { upgradeAt } from "../support/raw-http.ts";
import { agentKeys, agentTokens, pod, session, signingKey, verifyKey } from "./parties.ts";

const log = createLogger("silent", "test");
const deps = { tokens: agentTokens, keys: agentKeys };

/**
 * Where an example is played. `most`: the lines after which a stream is read no longer. `seen`: how many requests have
 * come.
 */
type Played = { address: string; most: number | undefined; seen(): number };

type Call = (args: never, played: Played) => Promise<unknown>;

const placeOf = ({ address }: Played): AgentPlace => ({ browser: pod.uid, pod: pod.name, address });

/** What an example says of the lease; the rest is that of all examples. */
type Named = Partial<Pick<LeaseRecord, "session" | "seq">>;

const leaseOf = (played: Played, { session: id = session, seq = 3 }: Named = {}): LeaseRecord => ({
  ...placeOf(played),
  ...{ session: id, config: "config-hash", epoch: 1, seq, created_at: 1, ticket: "1", channel: "channel" },
  request: "what the caller asked for",
});

const collected = async <T>(items: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<T[]> => {
  const all: T[] = [];
  if (most > 0)
    for await (const item of items) {
      all.push(item);
      if (all.length >= most) break;
    }
  return all;
};

const tracer = createTracer({ ratio: 1, onEnd: () => undefined });

/** Does it in a trace that is recorded. */
const inTrace = <T>(work: () => T): T =>
  tracer.within(tracer.begin({ name: "request", kind: "server", parent: undefined }), work);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

/** A gateway whose only session is that of the examples; what a client behind it gets for an answer. */
const throughGateway = async (
  {
    what,
    readOnly = false,
    query = "",
    offers = {},
  }: { what: string; readOnly?: boolean; query?: string; offers?: Record<string, string> },
  played: Played,
): Promise<number> => {
  const request = JSON.stringify({
    project: "default",
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: "pool", uid: "pool-uid" },
  });
  const parts = {
    config: { allowedHosts: [], allowedOrigins: [], trustedProxies: [] },
    store: { lease: async () => ({ ...leaseOf(played), request }), endedLease: async () => undefined },
    callerLimits: { connect: () => () => undefined },
    metrics: { gatewayConnections: { set: () => undefined } },
    ...{ agentTokens, agentKeys, verifyKey, signingKey, log },
  } as unknown as ServiceDeps;
  const server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const gateway = attachGateway(server, parts, { audit: { write: () => undefined } as never, log });
  const claims = { sessionId: session, poolUid: "pool-uid" };
  const jwt =
    what === "live" ? signLiveViewToken(signingKey, { ...claims, readOnly }) : signSessionToken(signingKey, claims);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return (await upgradeAt(url, `/gateway/${session}/${what}?jwt=${jwt}${query}`, offers)).status;
  } finally {
    gateway.close();
    server.close();
  }
};

const fill = async (played: Played): Promise<string> => {
  const parts = { agents: { learnTime: async () => undefined }, agentTokens, agentKeys, log } as unknown as ServiceDeps;
  try {
    const socket = await openCdpSocket(await devToolsOf(leaseOf(played), parts), AbortSignal.timeout(5000));
    socket.terminate();
    return "open";
  } catch (error) {
    return nameOf(error);
  }
};

/** The probe that a pod of ours has, as the node of local mode makes it. */
const probe = async ({ address, seen }: Played): Promise<boolean> => {
  const { host, port } = splitHostPort(address);
  const settings = { image: "browser:1", agentPublicKey: "key", template: undefined };
  const container = buildPod(aPool() as PodOwner, { suffix: "abcdefgh" }, settings).spec?.containers[0];
  const asked = container && probeOf({ ...container, ports: [{ name: "agent", containerPort: port }] }, host);
  if (!asked) throw new Error("the pod has no probe");
  let isReady = false;
  const { stop } = startReadinessProbe(asked, (now) => {
    isReady = now;
  });
  await eventually("the agent is probed", () => isReady || seen() > 2).finally(stop);
  return isReady;
};

/** Closed with `stack`. */
export const agentCalls = (stack: AsyncDisposableStack): Record<string, Call> => {
  const agents = createAgentClient(deps);
  const setups = createSetupClient(deps);
  const streams = createAgentStreams(deps);
  const exchanges = createAgentExchanges(deps);
  const replays = createRecordingClient(deps, streams);
  const profiles = createProfileClient(deps);
  const left = createLeftClient(deps, streams);
  for (const client of [agents, setups, streams, exchanges, replays, profiles, left]) stack.defer(() => client.close());
  const signal = AbortSignal.timeout(60_000);

  const stream = async (path: string, played: Played): Promise<unknown> => {
    const opened = await streams.open(placeOf(played), path, signal);
    return opened.kind === "ok" ? { kind: "ok", lines: await collected(opened.lines, played.most) } : opened;
  };
  const recording = { session, id: "recording1" };
  return {
    bindLease: ({ traced, ...asked }: SessionRequest & Named & { traced?: boolean }, played) =>
      inTrace(() => bindLease(leaseOf(played, asked), asked, { agents, log, ...(traced && { tracer }) })),
    end: ({ reuse, ...named }: Named & { reuse: Reuse }, played) => agents.end(leaseOf(played, named), reuse),
    afterReset: (asked: { timings?: true }, played) => agents.afterReset(placeOf(played), asked),
    state: ({ epoch }: { epoch: number }, played) => agents.state(placeOf(played), epoch),
    learnTime: (_, played) => agents.learnTime(placeOf(played)),
    capture: ({ telemetry }: Pick<CaptureChange, "telemetry">, played) => agents.capture(leaseOf(played), telemetry),
    sendSetup: (setup: BrowserSetup, played) => setups.sendSetup(placeOf(played), setup),
    sendChange: (change: BrowserChange, played) => setups.sendChange(placeOf(played), change),
    sendStart: (start: StartBrowser, played) => setups.sendStart(placeOf(played), start),
    sendMasks: (masks: MaskValues, played) => setups.sendMasks(placeOf(played), masks),
    sendArchive: ({ archive, text }: { archive: ArchiveRef; text: string }, played) =>
      setups.sendArchive(
        placeOf(played),
        archive,
        (async function* () {
          yield Buffer.from(text);
        })(),
      ),
    telemetry: (place: { session: string; after: number }, played) => stream(telemetryPath(place), played),
    logs: (place: { session: string; source: LogSource; follow: boolean }, played) => stream(logPath(place), played),
    output: (place: { session: string; id: string }, played) => stream(streamPath("/processes/", place), played),
    watch: (place: { session: string; id: string }, played) => stream(streamPath("/watches/", place), played),
    async call({ bytes, ...asked }: Omit<HolderCall, "bytes"> & { bytes?: string }, played) {
      const sent = bytes === undefined ? {} : { bytes: Readable.from([bytes]), type: "application/octet-stream" };
      const exchanged = await exchanges.exchange(leaseOf(played), { ...asked, ...sent }, signal);
      return exchanged.kind === "bytes" ? { ...exchanged, bytes: await text(exchanged.bytes) } : exchanged;
    },
    "replay.start": ({ id, wanted }: { id: string; wanted: StartRecording }, played) =>
      replays.start(placeOf(played), id, wanted),
    "replay.stop": (_, played) => replays.stop(placeOf(played), recording),
    "replay.stored": (_, played) => replays.stored(placeOf(played), recording),
    async "replay.read"({ after }: { after: number }, played) {
      const read = await replays.read(placeOf(played), { ...recording, after }, signal);
      if (read.kind !== "ok") return read;
      const pieces = await collected(read.pieces);
      return { kind: "ok", pieces: pieces.map((piece) => ("bytes" in piece ? String(piece.bytes) : piece)) };
    },
    async "left.read"(_, played) {
      const read = await left.read(placeOf(played), session, signal);
      if (read.kind !== "ok") return read;
      const pieces = await collected(read.pieces);
      return { kind: "ok", pieces: pieces.map((piece) => ("bytes" in piece ? String(piece.bytes) : piece)) };
    },
    "left.stored": (_, played) => left.stored(placeOf(played), session),
    "profile.state": (_, played) => profiles.state(placeOf(played)),
    "profile.done": (_, played) => profiles.done(placeOf(played)),
    async "profile.archive"(archive: ArchiveRef, played) {
      try {
        return String(Buffer.concat(await collected(profiles.archive(placeOf(played), archive, signal))));
      } catch (error) {
        return nameOf(error);
      }
    },
    fill: (_, played) => fill(played),
    gateway: throughGateway,
    probe: (_, played) => probe(played),
  };
};
