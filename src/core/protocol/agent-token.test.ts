import { generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import { agentTokenSeconds, createAgentTokens, createAgentTokenVerifier } from "./agent-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

test("all callers show the same token, and a new one as soon as half of its life is over", async () => {
  let nowMs = Date.now();
  const tokens = () => createAgentTokens(privateKey, { wall: () => nowMs, monotonic: () => nowMs });
  const [operator, replica] = [tokens(), tokens()];
  const renewMs = (agentTokenSeconds / 2) * 1000;
  const verify = createAgentTokenVerifier(publicKey, "a");
  for (let passed = 0; passed < 3 * renewMs; passed += renewMs / 10) {
    const token = operator.tokenFor("a");
    expect(replica.tokenFor("a")).toBe(token);
    expect(await verify(token)).toBe(true);
    nowMs += renewMs / 10;
  }
  const before = operator.tokenFor("a");
  nowMs += renewMs;
  expect(operator.tokenFor("a")).not.toBe(before);
  expect(await verify(operator.tokenFor("b"))).toBe(false);
});

test("the tokens of many pods are not renewed at the same moment", () => {
  let nowMs = 1_700_000_000_000;
  const tokens = createAgentTokens(privateKey, { wall: () => nowMs, monotonic: () => nowMs });
  const pods = Array.from({ length: 100 }, (_, index) => `pod-${index}`);
  const before = pods.map((pod) => tokens.tokenFor(pod));
  nowMs += (agentTokenSeconds / 20) * 1000;
  const renewed = pods.filter((pod, index) => tokens.tokenFor(pod) !== before[index]).length;
  expect(renewed).toBeGreaterThan(0);
  expect(renewed).toBeLessThan(50);
});

test("tokens of several callers, and the one that a caller had before, are good until they expire", async () => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const verify = createAgentTokenVerifier(publicKey, "a");
    const replicas = Array.from({ length: 20 }, (_, index) =>
      createAgentTokens(privateKey, { wall: () => Date.now() - index * 30_000, monotonic: () => 0 }).tokenFor("a"),
    );
    for (let round = 0; round < 2; round++) for (const token of replicas) expect(await verify(token)).toBe(true);
    vi.advanceTimersByTime((agentTokenSeconds + 60) * 1000);
    for (const token of replicas) expect(await verify(token)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test("a token that was first seen shortly before its end is good no longer than that", async () => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const token = createAgentTokens(privateKey).tokenFor("a");
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { exp: number };
    vi.setSystemTime((exp - 10) * 1000);
    const verify = createAgentTokenVerifier(publicKey, "a");
    expect(await verify(token)).toBe(true);
    // Two nodes' clocks may differ by half a minute.
    vi.advanceTimersByTime(60_000);
    expect(await verify(token)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

// LEASE-55
test("a caller whose clock is wrong goes by the agent's, for this agent alone, also when its own clock is set again", async () => {
  let wallMs = Date.now() - 3_600_000;
  let monotonicMs = 5000;
  const tokens = createAgentTokens(privateKey, { wall: () => wallMs, monotonic: () => monotonicMs });
  const accepts = (pod: string, token: string): Promise<boolean> => createAgentTokenVerifier(publicKey, pod)(token);
  const before = tokens.tokenFor("a");
  expect(await accepts("a", before)).toBe(false);
  tokens.goBy("a", Date.now());
  expect(await accepts("a", tokens.tokenFor("a"))).toBe(true);
  expect(await accepts("b", tokens.tokenFor("b"))).toBe(false);
  wallMs -= 3_600_000;
  monotonicMs += (agentTokenSeconds / 2) * 1000 + 1;
  expect(await accepts("a", tokens.tokenFor("a"))).toBe(true);
});

// LEASE-55
test("an agent remembers a token for as long as the token had to live, whatever its wall clock is set to", async () => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const verify = createAgentTokenVerifier(publicKey, "a");
    const token = createAgentTokens(privateKey).tokenFor("a");
    expect(await verify(token)).toBe(true);
    vi.setSystemTime(1_700_000_000_000 + 3_600_000);
    expect(await verify(token)).toBe(true);
    vi.advanceTimersByTime((agentTokenSeconds + 1) * 1000);
    expect(await verify(token)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
