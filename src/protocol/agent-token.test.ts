import { generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import { agentTokenSeconds, createAgentTokens, createAgentTokenVerifier } from "./agent-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

test("a token is given again until half of its life is over", async () => {
  let nowMs = Date.now();
  const tokens = createAgentTokens(privateKey, () => nowMs);
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
      createAgentTokens(privateKey, () => Date.now() - index * 1000).tokenFor("a"),
    );
    for (let round = 0; round < 2; round++) for (const token of replicas) expect(await verify(token)).toBe(true);
    vi.advanceTimersByTime((agentTokenSeconds + 60) * 1000);
    for (const token of replicas) expect(await verify(token)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
