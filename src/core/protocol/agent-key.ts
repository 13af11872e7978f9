/**
 * Keys of agents. The operator makes one for each pod and hands it over in a Secret; every caller computes it again
 * from the pod's name, so none is stored anywhere else.
 *
 *   key of a pod = HMAC-SHA256(master key, name of the pod)
 *
 * A pod's name ends with 12 random letters, 57 bits, so no pod has the name of an earlier one.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes, randomInt } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isProofOf, nonceHeader, type Proven, proofHeader, type UpgradePath, upgradeTo } from "./agent-proof.ts";

/** The signs of the random end of a pod's name. */
export const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 12;

/** The random end of a new pod's name. */
export const newPodSuffix = (): string =>
  Array.from({ length: suffixLength }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join("");

/** Whether a text can be such a suffix. */
export const isPodSuffix = (text: string): boolean =>
  text.length === suffixLength && [...text].every((sign) => suffixAlphabet.includes(sign));

/** How long keys are kept, as a number of pods: more than one process calls in a while. */
const maxKept = 10_000;

/** One question to an agent. `headers`: to send with it. */
type Challenge = {
  headers: Record<string, string>;
  /** Whether the answer came from the pod's agent. */
  isMetBy(answer: Omit<Proven, "nonce">, proof: string | undefined): boolean;
};

export type AgentKeys = {
  /** The key of the pod's agent. */
  keyOf(podName: string): KeyObject;
  /** A new challenge for the agent of this pod. */
  challenge(podName: string): Challenge;
};

/** `master`: the master key of the installation. */
export const createAgentKeys = (master: KeyObject): AgentKeys => {
  const kept = new LRUCache<string, KeyObject>({ max: maxKept });
  const keyOf = (podName: string): KeyObject => {
    const known = kept.get(podName);
    if (known) return known;
    const key = createSecretKey(createHmac("sha256", master).update(podName).digest());
    kept.set(podName, key);
    return key;
  };
  return {
    keyOf,
    challenge(podName) {
      const nonce = randomBytes(16).toString("base64url");
      return {
        headers: { [nonceHeader]: nonce },
        isMetBy: (answer, proof) => isProofOf(keyOf(podName), proof, { ...answer, nonce }),
      };
    },
  };
};

/** The text of a key in a Secret and in the agent's environment. */
export const writeAgentKey = (key: KeyObject): string => key.export().toString("base64url");

/** The inverse of `writeAgentKey`; undefined for text that is no key. */
export const readAgentKey = (text: string): KeyObject | undefined =>
  /^[A-Za-z0-9_-]{43}$/.test(text) ? createSecretKey(Buffer.from(text, "base64url")) : undefined;

/** The answer to an upgrade, as both WebSocket clients and the gateway see it. */
export type UpgradeAnswer = { status: number; headers: Record<string, string | string[] | undefined> };

/**
 * Whether the answer to an upgrade came from the pod's agent. Ask before the first byte is sent over the connection.
 */
export const isUpgradeBy = (
  challenge: Challenge,
  { status, headers }: UpgradeAnswer,
  path: UpgradePath = "/cdp",
): boolean => {
  const proof = headers[proofHeader];
  return challenge.isMetBy({ ...upgradeTo(path), status }, typeof proof === "string" ? proof : undefined);
};
