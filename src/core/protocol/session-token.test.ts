import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { signLiveViewToken, signSessionToken, verifyLiveViewToken, verifySessionToken } from "./session-token.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const claims = { sessionId: "session", poolUid: "pool" };

test("a token says whose session it opens, the same one every time, and only its own key can have made it", async () => {
  const token = signSessionToken(privateKey, claims);
  expect(await verifySessionToken(publicKey, token)).toEqual(claims);
  expect(signSessionToken(privateKey, claims)).toBe(token);
  expect(await verifySessionToken(generateKeyPairSync("ed25519").publicKey, token)).toBeUndefined();
});

// AUTH-21
test.each([
  [3600, claims],
  [-30, claims],
  [-61, { ...claims, isOver: true }],
])("a token whose lease ends in %i s at the latest says so", async (seconds, said) => {
  const expiresAt = Math.floor(Date.now() / 1000) + seconds;
  const token = signSessionToken(privateKey, claims, expiresAt);
  expect(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).toMatchObject({ exp: expiresAt });
  expect(await verifySessionToken(publicKey, token)).toEqual(said);
  const view = signLiveViewToken(privateKey, { ...claims, readOnly: true }, expiresAt);
  expect(await verifyLiveViewToken(privateKey, view)).toEqual({ ...said, readOnly: true });
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

// VIEW-1
test("a live view's token says what it allows, only its own key can have made it, and it opens nothing else", async () => {
  const token = signLiveViewToken(privateKey, { ...claims, readOnly: true });
  expect(await verifyLiveViewToken(privateKey, token)).toEqual({ ...claims, readOnly: true });
  expect(await verifyLiveViewToken(generateKeyPairSync("ed25519").privateKey, token)).toBeUndefined();
  expect(await verifySessionToken(publicKey, token)).toBeUndefined();
  expect(await verifyLiveViewToken(privateKey, signSessionToken(privateKey, claims))).toBeUndefined();
  const [head, , signature] = token.split(".");
  const forged = Buffer.from(JSON.stringify({ pool: "pool", aud: "live-view", sub: "session", read_only: false }));
  expect(await verifyLiveViewToken(privateKey, `${head}.${forged.toString("base64url")}.${signature}`)).toBeUndefined();
});

// VIEW-1
test("a live view's token made with what others know opens nothing", async () => {
  const payload = { pool: "pool", aud: "live-view", sub: "session", read_only: false };
  const bySigning = await new SignJWT(payload).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
  const byPublicKey = await new SignJWT(payload)
    .setProtectedHeader({ alg: "HS256" })
    .sign(publicKey.export({ type: "spki", format: "der" }));
  const byNobody = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${bySigning.split(".")[1]}.`;
  for (const token of [bySigning, byPublicKey, byNobody])
    expect(await verifyLiveViewToken(privateKey, token)).toBeUndefined();
});
