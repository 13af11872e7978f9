import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { createAgentTokenVerifier } from "./agent-token.ts";
import { signJwt } from "./jwt.ts";
import { signLiveViewToken, signSessionToken, verifyLiveViewToken, verifySessionToken } from "./session-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const claims = { sessionId: "session", poolUid: "pool" };

/** The same token to a decoder of base64url that takes what it gets. */
const otherSpellings = (token: string): string[] => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // The last character of a signature of 32 or 64 bytes has bits that nothing says anything by.
  const last = alphabet[alphabet.indexOf(token.at(-1) ?? "") ^ 1];
  return [`${token.slice(0, -1)}${last}`, token.replace(/\.(?=[^.]*$)/, ". "), `${token}\n`, `${token}=`];
};

test("a token that was written otherwise than it was signed is none", async () => {
  const session = signSessionToken(privateKey, claims);
  const live = signLiveViewToken(privateKey, { ...claims, readOnly: false });
  const agent = signJwt(privateKey, { aud: "agent:pod", exp: Math.floor(Date.now() / 1000) + 600 });
  const verifyAgent = createAgentTokenVerifier(publicKey, "pod");
  expect([
    await verifySessionToken(publicKey, session),
    await verifyLiveViewToken(privateKey, live),
    await verifyAgent(agent),
  ]).toEqual([claims, { ...claims, readOnly: false }, true]);
  for (const text of otherSpellings(session)) expect(await verifySessionToken(publicKey, text), text).toBeUndefined();
  for (const text of otherSpellings(live)) expect(await verifyLiveViewToken(privateKey, text), text).toBeUndefined();
  for (const text of otherSpellings(agent)) expect(await verifyAgent(text), text).toBe(false);
});
