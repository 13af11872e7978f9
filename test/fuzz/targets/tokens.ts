import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import fc from "fast-check";
import { grantedTo, readApiKey, readDigest } from "../../../src/core/api-keys/api-key-secret.ts";
import { bearerToken } from "../../../src/core/http/middleware/authenticate.ts";
import { nonceIn } from "../../../src/core/protocol/agent-proof.ts";
import { createAgentTokenVerifier } from "../../../src/core/protocol/agent-token.ts";
import { signJwt } from "../../../src/core/protocol/jwt.ts";
import { openBytes, sealBytes } from "../../../src/core/protocol/sealed-bytes.ts";
import {
  signLiveViewToken,
  signRecordingToken,
  signSessionToken,
  verifyLiveViewToken,
  verifyRecordingToken,
  verifySessionToken,
} from "../../../src/core/protocol/session-token.ts";
import { AppError } from "../../../src/platform/base/errors.ts";
import { Sensitive } from "../../../src/platform/base/sensitive.ts";
import { open, seal } from "../../../src/platform/secrets/sealing.ts";
import { mutatedBytes } from "../inputs/mutated-bytes.ts";
import { anyJson, mutatedJson } from "../inputs/mutated-json.ts";
import { mutatedText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must, orRefusedSync } from "../target.ts";

/** The same keys in every run, so that the same case is the same text. */
const privateKeyOf = (byte: number): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]),
    format: "der",
    type: "pkcs8",
  });
const [own, foreign] = [privateKeyOf(1), privateKeyOf(2)];
const ownPublic = createPublicKey(own);
const publicBytes = ownPublic.export({ format: "der", type: "spki" });

const pod = "3f1c8a52-0000-4000-8000-000000000001";
const session = { sessionId: "session-1", poolUid: "pool-1" };
const other = { sessionId: "session-2", poolUid: "pool-1" };
/** Outlives every run. */
const agentToken = signJwt(own, { aud: `agent:${pod}`, iat: 1_700_000_000, exp: 4_000_000_000 });

/** What was issued, by who verifies it: text → claims. */
const issued = {
  session: new Map([session, other].map((claims) => [signSessionToken(own, claims), claims])),
  live: new Map(
    [
      { ...session, readOnly: true },
      { ...other, readOnly: false },
    ].map((claims) => [signLiveViewToken(own, claims), claims]),
  ),
  replay: new Map([{ ...session, recordingId: "r1" }].map((claims) => [signRecordingToken(own, claims), claims])),
  agent: new Map([[agentToken, true]]),
};
type Verifier = keyof typeof issued;
const allTokens = Object.values(issued).flatMap((tokens) => [...tokens.keys()]);

const text = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString("base64url");
const headers = [
  { alg: "none" },
  { alg: "EdDSA" },
  { alg: "HS256" },
  { alg: "ES256" },
  { alg: "EdDSA", crit: ["exp"] },
  { alg: "EdDSA", b64: false, crit: ["b64"] },
  { alg: "EdDSA", jwk: ownPublic.export({ format: "jwk" }) },
  { alg: "EdDSA", kid: "../../dev/null" },
];
const claims = fc.record(
  {
    aud: fc.constantFrom("gateway", "live-view", "replay", `agent:${pod}`, ["gateway", "live-view"]),
    sub: fc.constantFrom(session.sessionId, other.sessionId, ""),
    pool: fc.constantFrom("pool-1", "pool-2", 1, null),
    replay: fc.constantFrom("r1", 1),
    read_only: fc.constantFrom(false, true, "false", 0),
    exp: fc.constantFrom(0, 1e12, "1e12", -1),
    iat: fc.constantFrom(0, 1e12),
  },
  { requiredKeys: [] },
);
/**
 * Signed with keys that nobody verifies with, and by what an attacker has: the public key, and parts of other tokens.
 */
const forged = fc
  .tuple(fc.constantFrom(...headers), fc.oneof(claims, anyJson), fc.constantFrom("foreign", "public", "none", "moved"))
  .map(([header, payload, how]) => {
    const signed = `${text(header)}.${text(payload)}`;
    if (how === "none") return `${signed}.`;
    if (how === "moved") return `${signed}.${allTokens[0]?.split(".")[2]}`;
    const object = typeof payload === "object" && payload !== null ? payload : {};
    return signJwt(how === "foreign" ? foreign : createSecretKey(publicBytes), object);
  });
/** Parts of several tokens, put together anew. */
const spliced = fc
  .tuple(fc.constantFrom(...allTokens), fc.constantFrom(...allTokens), fc.constantFrom(...allTokens))
  .map(([a, b, c]) => [a.split(".")[0], b.split(".")[1], c.split(".")[2]].join("."));
const tokens = fc.oneof(
  mutatedText(fc.constantFrom(...allTokens), {
    tokens: [".", "=", " ", "\n", "-", "_", "+", "/", "A"],
    mostChanges: 3,
  }),
  forged,
  spliced,
);

const secretsKeys = [{ id: "0123456789abcdef", bytes: Buffer.alloc(32, 7) }];
const place = { namespace: "n", name: "s", entry: "e" };
const sealedValue = seal(new Sensitive("a value"), secretsKeys, place);
const sealedKey = createSecretKey(Buffer.alloc(32, 9));
const sealedText = sealBytes(sealedKey, Buffer.from("a text"), "c");

const apiKeySecret = {
  metadata: {
    name: "api-key-1",
    namespace: "n",
    annotations: {
      "browserpool.dev/project-id": "p",
      "browserpool.dev/permissions": "browsers,pools",
      "browserpool.dev/lifetime-days": "3",
      "browserpool.dev/expires-at": "2030-01-01T00:00:00Z",
    },
  },
  type: "browserpool.dev/api-key",
  data: { sha256: Buffer.from("a".repeat(64)).toString("base64") },
};

type Input =
  | { kind: Verifier; token: string }
  | { kind: "header"; value: string }
  | { kind: "sealed value"; stored: string }
  | { kind: "sealed text"; bytes: Buffer }
  | { kind: "API key"; annotations: { [key: string]: unknown }; digest: string };

const inputs: fc.Arbitrary<Input> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom<Verifier>("session", "live", "replay", "agent"), token: tokens }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("header"), value: mutatedText(fc.constant("Bearer bp_abcdefgh")) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("sealed value"),
      stored: mutatedText(fc.constant(sealedValue), { tokens: [":", "="] }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("sealed text"), bytes: mutatedBytes(fc.constant(sealedText)) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("API key"),
      annotations: mutatedJson(fc.constant(apiKeySecret.metadata.annotations), {
        keys: Object.keys(apiKeySecret.metadata.annotations),
      }).map((json) =>
        // The API server keeps annotations as texts.
        Object.fromEntries(Object.entries(Object(json)).map(([key, value]) => [key, String(JSON.stringify(value))])),
      ),
      digest: mutatedText(fc.constant(apiKeySecret.data.sha256)),
    }),
  },
) as fc.Arbitrary<Input>;

const verify = async (kind: Verifier, token: string): Promise<unknown> => {
  if (kind === "session") return verifySessionToken(ownPublic, token);
  if (kind === "live") return verifyLiveViewToken(own, token);
  if (kind === "replay") return verifyRecordingToken(ownPublic, token);
  return (await createAgentTokenVerifier(ownPublic, pod)(token)) || undefined;
};

const checkToken = async (kind: Verifier, token: string): Promise<void> => {
  const verified = await verify(kind, token);
  const wanted = (issued[kind] as Map<string, unknown>).get(token);
  must(
    JSON.stringify(verified) === JSON.stringify(wanted),
    `${kind}: ${JSON.stringify(verified)} for a token that nobody issued`,
  );
};

const checkApiKey = ({ annotations, digest }: Extract<Input, { kind: "API key" }>): void => {
  const secret = { ...apiKeySecret, metadata: { ...apiKeySecret.metadata, annotations }, data: { sha256: digest } };
  const record = readApiKey(secret as never);
  readDigest(secret);
  if (record?.projectId !== undefined)
    must(!grantedTo(record).has("organization"), "a key of a project has the organization");
};

const isUnreadable = (error: unknown): boolean => error instanceof AppError && error.code === "internal_error";
const isOfCrypto = (error: unknown): boolean =>
  error instanceof Error && /unable to authenticate|Invalid (initialization|authentication)/.test(error.message);

export const target: FuzzTarget<Input> = {
  about:
    "Tokens of sessions, live views, recordings and agents, keys of the API and sealed values: only what was issued is taken, as it was issued.",
  inputs,
  open: () => ({
    async check(input) {
      switch (input.kind) {
        case "header": {
          const token = bearerToken({ authorization: input.value });
          must(token === undefined || !/\s/.test(token), "a token with a blank in it");
          nonceIn({ "x-browserpool-nonce": input.value });
          return;
        }
        case "sealed value": {
          const opened = orRefusedSync(() => open(input.stored, secretsKeys, place).reveal(), isUnreadable);
          // What does not look sealed is plain.
          if ("value" in opened && input.stored.startsWith("bp-sealed:v1:"))
            must(opened.value === "a value", "another value");
          return;
        }
        case "sealed text": {
          const opened = orRefusedSync(() => openBytes(sealedKey, input.bytes, "c").toString(), isOfCrypto);
          if ("value" in opened) must(opened.value === "a text" && input.bytes.equals(sealedText), "another text");
          return;
        }
        case "API key":
          return checkApiKey(input);
        default:
          return checkToken(input.kind, input.token);
      }
    },
  }),
};
