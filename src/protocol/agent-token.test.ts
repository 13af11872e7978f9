import { generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import { agentTokenSeconds, createAgentTokens, createAgentTokenVerifier } from "./agent-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

test("a token is given again until half of its life is over", async () => {
  let nowMs = Date.now();
  const tokens = createAgentTokens(privateKey, { wall: () => nowMs, monotonic: () => nowMs });
  const first = tokens.tokenFor("a");
  nowMs += (agentTokenSeconds / 2) * 1000 - 1;
  expect(tokens.tokenFor("a")).toBe(first);
  nowMs += 1000;
  const second = tokens.tokenFor("a");
  expect(second).not.toBe(first);
  const verify = createAgentTokenVerifier(publicKey, "a");
  expect(await verify(second)).toBe(true);
  expect(await verify(tokens.tokenFor("b"))).toBe(false);
});

test("tokens of several callers, and the one that a caller had before, are good until they expire", async () => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const verify = createAgentTokenVerifier(publicKey, "a");
    const replicas = Array.from({ length: 20 }, (_, index) =>
      createAgentTokens(privateKey, { wall: () => Date.now() - index * 1000, monotonic: () => 0 }).tokenFor("a"),
    );
    for (let round = 0; round < 2; round++) for (const token of replicas) expect(await verify(token)).toBe(true);
    vi.advanceTimersByTime((agentTokenSeconds + 60) * 1000);
    for (const token of replicas) expect(await verify(token)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

// LEASE-55
test("a caller whose clock is wrong goes by the agent's, for this agent alone, also when its own clock is set again", async () => {
  let wallMs = Date.now() - 300_000;
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
