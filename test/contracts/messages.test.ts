/**
 * What is signed, sealed or said without a call, as recorded texts: a process of this version must understand them, and
 * write the same where nothing in them is random. messages.json has them, by the keys of parties.ts.
 */

import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { writeTermination } from "../../src/cmd/agent.ts";
import { readAgentConfig } from "../../src/core/agent/agent-config.ts";
import { buildAgentKeySecret } from "../../src/core/pools/apply/agent-key-secrets.ts";
import { podState } from "../../src/core/pools/observe/pod-state.ts";
import { agentName } from "../../src/core/pools/pod/agent-name.ts";
import { buildPod, type PodOwner } from "../../src/core/pools/pod/pod.ts";
import { Termination } from "../../src/core/protocol/agent-api.ts";
import { writeAgentKey } from "../../src/core/protocol/agent-key.ts";
import { isProofOf, proofOf } from "../../src/core/protocol/agent-proof.ts";
import { createAgentTokens, createAgentTokenVerifier } from "../../src/core/protocol/agent-token.ts";
import { openBytes, openStream } from "../../src/core/protocol/sealed-bytes.ts";
import {
  signLiveViewToken,
  signRecordingToken,
  signSessionToken,
  verifyLiveViewToken,
  verifyRecordingToken,
  verifySessionToken,
} from "../../src/core/protocol/session-token.ts";
import { createSetupRequests, SetupRequest } from "../../src/core/setups/setup-requests.ts";
import { createSiteReports, SiteReport } from "../../src/features/sites/site-reports.ts";
import { podEnvironment } from "../../src/local/kubelet/pod-process.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { Sensitive } from "../../src/platform/base/sensitive.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import type { RedisConnection } from "../../src/platform/redis/connection.ts";
import { aPool } from "../support/observed-pool.ts";
import { agentKey, agentKeys, pod, session, signingKey, verifyKey } from "./parties.ts";

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "messages.json"), "utf8"));

afterEach(() => {
  vi.useRealTimers();
});

describe("keys, tokens and seals", () => {
  test("the key of a pod's agent follows from the master key and the pod's name", () => {
    expect(writeAgentKey(agentKeys.keyOf(pod.name))).toBe(recorded.agentKey);
  });

  test("an agent's proof", () => {
    const { proof, ...proven } = recorded.agentProof;
    expect(proofOf(agentKey, proven)).toBe(proof);
    expect(isProofOf(agentKey, proof, proven)).toBe(true);
  });

  test("a token for an agent", async () => {
    const { atMs, token } = recorded.agentToken;
    vi.useFakeTimers({ toFake: ["Date"], now: atMs });
    expect(createAgentTokens(signingKey).tokenFor(pod.uid)).toBe(token);
    expect(await createAgentTokenVerifier(verifyKey, pod.uid)(token)).toBe(true);
  });

  test("tokens of a session, of its live view and of a recording", async () => {
    const claims = { sessionId: session, poolUid: "pool-uid" };
    const { sessionToken, liveViewToken, recordingToken } = recorded;
    expect(signSessionToken(signingKey, claims)).toBe(sessionToken);
    expect(signLiveViewToken(signingKey, { ...claims, readOnly: true })).toBe(liveViewToken);
    expect(signRecordingToken(signingKey, { ...claims, recordingId: "recording1" })).toBe(recordingToken);
    expect(await verifySessionToken(verifyKey, sessionToken)).toEqual(claims);
    expect(await verifyLiveViewToken(signingKey, liveViewToken)).toEqual({ ...claims, readOnly: true });
    expect(await verifyRecordingToken(verifyKey, recordingToken)).toEqual({ ...claims, recordingId: "recording1" });
  });

  test("sealed bytes and streams are opened", async () => {
    const { sealedBytes, sealedStream } = recorded;
    const bytes = Buffer.from(sealedBytes.sealed, "base64");
    expect(String(openBytes(agentKey, bytes, sealedBytes.context))).toBe(sealedBytes.text);
    const parts: Buffer[] = [];
    const sent = (async function* () {
      yield Buffer.from(sealedStream.sealed, "base64");
    })();
    for await (const part of openStream(agentKey, sent)) parts.push(part);
    expect(String(Buffer.concat(parts))).toBe(sealedStream.text);
  });
});

describe("the operator and an agent", () => {
  const settings = {
    image: "browser:1",
    agentPublicKey: verifyKey.export({ type: "spki", format: "der" }).toString("base64"),
    template: undefined,
  };
  const pool = () =>
    aPool({
      headless: false,
      stealth: true,
      kioskMode: true,
      startUrl: "https://example.com/start?a=$(HOME)",
      viewport: { width: 1280, height: 720, refreshRate: 60 },
      telemetry: { enabled: true, browser: { page: { enabled: true } } },
      chromePolicy: { ShowHomeButton: true },
    } as never) as PodOwner;

  test("a pod tells its agent these variables", () => {
    const built = buildPod(pool(), { suffix: "bcdfghjklmnp" }, settings);
    const key = Buffer.from(buildAgentKeySecret(built, agentKey).data?.key ?? "", "base64").toString();
    const made = { ...built, metadata: { ...built.metadata, uid: pod.uid } } as Pod;
    const { env, args } = podEnvironment(made, "10.0.0.9", new Map([["BROWSERPOOL_AGENT_KEY", new Sensitive(key)]]));
    const { BROWSERPOOL_BROWSER, ...others } = env;
    const { BROWSERPOOL_BROWSER: browser, ...wanted } = recorded.podVariables.env;
    expect(JSON.parse(BROWSERPOOL_BROWSER ?? "")).toEqual(JSON.parse(browser));
    expect({ args, env: others }).toEqual({ args: recorded.podVariables.args, env: wanted });
  });

  test("an agent reads these variables", () => {
    const { publicKey, agentKey: read, ...config } = readAgentConfig(recorded.podVariables.env);
    expect(publicKey.equals(verifyKey)).toBe(true);
    expect(read.equals(agentKey)).toBe(true);
    expect(config).toMatchObject(recorded.podVariables.config);
  });

  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "contract-termination-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test.each(Object.entries(recorded.terminations as Record<string, string>))(
    "an agent that ends tells why: %s",
    async (reason, said) => {
      const file = join(folder, "termination-log");
      const message = "as the example says";
      await writeTermination(file, { reason, message } as Termination, createLogger("silent", "test"));
      expect(await readFile(file, "utf8")).toBe(said);
      const status = {
        containerStatuses: [{ name: agentName, state: { terminated: { exitCode: 1, message: said } } }],
      };
      const facts = { browser: undefined, isDying: false };
      expect(podState({ metadata: {}, status } as unknown as Pod, facts)).toEqual({ is: "ended", reason, message });
    },
  );

  test("every reason has an example", () => {
    expect(Object.keys(recorded.terminations).sort()).toEqual([...Termination.shape.reason.options].sort());
  });
});

describe("the operator and the API, over Redis", () => {
  /** What is published or set by this work. */
  const sentBy = async (work: (redis: RedisConnection) => unknown): Promise<unknown[]> => {
    const sent: unknown[] = [];
    const note = async (...args: unknown[]) => void sent.push(args);
    await work({ publish: note, set: note } as unknown as RedisConnection);
    return sent;
  };

  test("a browser waits for its setup", async () => {
    const { channel, message } = recorded.setupRequest;
    expect(SetupRequest.parse(JSON.parse(message))).toEqual(JSON.parse(message));
    const sent = await sentBy((redis) => createSetupRequests(redis).ask(JSON.parse(message)));
    expect(sent).toEqual([[channel, message]]);
  });

  test.each(recorded.setupStates as { text: string; state: never; lifeMs: number }[])(
    "the delivery of a setup: $text",
    async ({ text, state, lifeMs }) => {
      const key = recorded.setupKey;
      const read = { get: async (asked: string) => (asked === key ? text : null) } as unknown as RedisConnection;
      expect(await createSetupRequests(read).stateOf(pod.uid)).toEqual(state);
      const sent = await sentBy((redis) => createSetupRequests(redis).report(pod.uid, state));
      expect(sent).toEqual([[key, text, "PX", lifeMs]]);
    },
  );

  test("a session found something of a site", async () => {
    const { channel, message } = recorded.siteReport;
    expect(SiteReport.parse(JSON.parse(message))).toEqual(JSON.parse(message));
    const sent = await sentBy((redis) => createSiteReports(redis).tell(JSON.parse(message)));
    expect(sent).toEqual([[channel, message]]);
  });
});
