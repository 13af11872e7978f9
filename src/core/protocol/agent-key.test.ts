import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createAgentKeys, newPodSuffix, readAgentKey, writeAgentKey } from "./agent-key.ts";
import { nonceHeader, nonceIn, proofOf } from "./agent-proof.ts";

const master = createSecretKey(randomBytes(32));
const keys = createAgentKeys(master);
const pod = `shop-${newPodSuffix()}`;
const answer = { method: "PUT", path: "/lease", status: 200, body: '{"ok":true}' };

test("every holder of the master key computes the same key of a pod, and another one for every other pod", () => {
  expect(createAgentKeys(master).keyOf(pod).equals(keys.keyOf(pod))).toBe(true);
  expect(keys.keyOf(`shop-${newPodSuffix()}`).equals(keys.keyOf(pod))).toBe(false);
  expect(
    createAgentKeys(createSecretKey(randomBytes(32)))
      .keyOf(pod)
      .equals(keys.keyOf(pod)),
  ).toBe(false);
});

test("a key survives its way through a Secret and the environment; other text is no key", () => {
  expect(readAgentKey(writeAgentKey(keys.keyOf(pod)))?.equals(keys.keyOf(pod))).toBe(true);
  for (const text of ["", "short", `${"a".repeat(43)}=`, "a".repeat(44)]) expect(readAgentKey(text)).toBeUndefined();
});

// POD-2
test("an answer meets the challenge only with the pod's key, for this very call, status and body", () => {
  const challenge = keys.challenge(pod);
  const nonce = nonceIn(challenge.headers) ?? "";
  const proof = proofOf(keys.keyOf(pod), { ...answer, nonce });
  expect(challenge.isMetBy(answer, proof)).toBe(true);
  for (const change of [{ method: "DELETE" }, { path: "/state" }, { status: 409 }, { body: '{"ok":false}' }])
    expect(challenge.isMetBy({ ...answer, ...change }, proof)).toBe(false);
  expect(challenge.isMetBy(answer, undefined)).toBe(false);
  expect(challenge.isMetBy(answer, "")).toBe(false);
  expect(challenge.isMetBy(answer, `${proof}A`)).toBe(false);
  const ofAnother = keys.keyOf(`shop-${newPodSuffix()}`);
  expect(challenge.isMetBy(answer, proofOf(ofAnother, { ...answer, nonce }))).toBe(false);
  // Recorded from an earlier call.
  expect(keys.challenge(pod).isMetBy(answer, proof)).toBe(false);
});

test("a nonce that could change the meaning of the signed text gets no proof", () => {
  for (const nonce of ["", "x", "a\nb", "a".repeat(23), "a".repeat(22).replace("a", "=")])
    expect(nonceIn({ [nonceHeader]: nonce })).toBeUndefined();
  expect(nonceIn({ [nonceHeader]: ["a".repeat(22)] })).toBeUndefined();
});
