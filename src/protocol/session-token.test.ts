import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { signSessionToken, verifySessionToken } from "./session-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const claims = { sessionId: "session", poolUid: "pool" };

test("a token says whose session it opens, the same one every time, and only its own key can have made it", async () => {
  const token = signSessionToken(privateKey, claims);
  expect(await verifySessionToken(publicKey, token)).toEqual(claims);
  expect(signSessionToken(privateKey, claims)).toBe(token);
  expect(await verifySessionToken(generateKeyPairSync("ed25519").publicKey, token)).toBeUndefined();
});

test("it is the JWT that any other maker of JWTs would make", async () => {
  const other = await new SignJWT({ pool: "pool" })
    .setProtectedHeader({ alg: "EdDSA" })
    .setAudience("gateway")
    .setSubject("session")
    .sign(privateKey);
  expect(signSessionToken(privateKey, claims)).toBe(other);
});

test.each([
  ["another audience", { aud: "agent:pod", sub: "session", pool: "pool" }],
  ["no session", { aud: "gateway", pool: "pool" }],
  ["no pool", { aud: "gateway", sub: "session" }],
])("a well-signed token with %s opens nothing", async (_what, payload) => {
  const token = await new SignJWT(payload).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
  expect(await verifySessionToken(publicKey, token)).toBeUndefined();
});
