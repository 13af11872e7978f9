import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { agentTokenSeconds, createAgentTokens, createAgentTokenVerifier } from "./agent-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

test("a token is given again until half of its life is over", async () => {
  let nowMs = Date.now();
  const tokens = createAgentTokens(privateKey, () => nowMs);
  const first = await tokens.tokenFor("a");
  nowMs += (agentTokenSeconds / 2) * 1000 - 1;
  expect(await tokens.tokenFor("a")).toBe(first);
  nowMs += 1000;
  const second = await tokens.tokenFor("a");
  expect(second).not.toBe(first);
  const verify = createAgentTokenVerifier(publicKey, "a");
  expect(await verify(second)).toBe(true);
  expect(await verify(await tokens.tokenFor("b"))).toBe(false);
});
