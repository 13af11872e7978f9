/** Who speaks in the recorded examples. All keys are fixed, so that what is recorded stays readable. */
import { createPrivateKey, createPublicKey, createSecretKey } from "node:crypto";
import { createAgentKeys } from "../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";

/** PKCS #8 of an Ed25519 key is this and its seed. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** The installation's keys. */
export const signingKey = createPrivateKey({
  key: Buffer.concat([pkcs8Prefix, Buffer.alloc(32, "contracts")]),
  format: "der",
  type: "pkcs8",
});
export const verifyKey = createPublicKey(signingKey);
export const agentKeys = createAgentKeys(createSecretKey(Buffer.alloc(32, "master of agents")));

/** The browser of the examples, as its pod names it. */
export const pod = { uid: "5a2f7c1e-0d7b-4d0e-9a37-0f4c1f7f2b61", name: "pool-bcdfghjklmnp" };

/** The key of its agent. */
export const agentKey = agentKeys.keyOf(pod.name);

/** The tokens of its callers. */
export const agentTokens = createAgentTokens(signingKey);

/** The session that holds the browser in the examples, or asks for it. */
export const session = "s-1";
