/** What an agent answers to the request to mask values: the fill goes on after one answer, and after no other. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSetupClient, type SetupClient } from "../../../../src/core/leases/agent/setup-client.ts";
import type { AnyLease } from "../../../../src/core/leases/records.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { maskFill } from "../../../../src/features/vaults/fill/fill-item.ts";
import type { FillItem } from "../../../../src/features/vaults/fill/fill-wire.ts";
import type { ReadyItem } from "../../../../src/features/vaults/items/open-item.ts";
import { listeningPort } from "../../../../src/platform/base/listening-port.ts";
import { Sensitive } from "../../../../src/platform/base/sensitive.ts";
import { agentKeys } from "../../../support/lease-parts.ts";
import { sendProven } from "../../../support/proven-answers.ts";

const pod = "shop-abcdefghij";
let answer: { status: number; body: object } = { status: 500, body: {} };
let isMute = false;
let setupClient: SetupClient;
let lease: AnyLease;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  const agent = createServer((request, response) => {
    if (isMute) request.socket.destroy();
    else sendProven(agentKeys.keyOf(pod), { request, response }, answer.status, answer.body);
  }).listen(0, "127.0.0.1");
  stack.defer(() => void agent.close().closeAllConnections());
  await once(agent, "listening");
  const tokens = createAgentTokens(generateKeyPairSync("ed25519").privateKey);
  setupClient = createSetupClient({ tokens, keys: agentKeys });
  stack.defer(() => setupClient.close());
  const address = `127.0.0.1:${listeningPort(agent)}`;
  lease = { browser: "b", pod, address, session: "s", epoch: 2, seq: 7 } as AnyLease;
});
afterAll(() => stack.disposeAsync());

const mask = (): Promise<void> =>
  maskFill(
    lease,
    { fields: [{ field: "username", selector: "#user" }] } as FillItem,
    { login: { values: new Map([["username", new Sensitive("ada")]]), totpSecret: undefined } } as unknown as ReadyItem,
    { setupClient },
  );

const held = { session_id: "s", epoch: 2, seq: 7, connections: 1, bound_at: new Date().toISOString() };
const state = (lease: object | null): object => ({
  pod_uid: "b",
  fence: { epoch: 2, seq: 7 },
  binding: null,
  resetting: false,
  lease,
});
const refusal = (code: string): object => ({ code, message: "no" });

// TELEMETRY-17
test("after the state of the lease with its values the fill goes on", async () => {
  answer = { status: 200, body: state(held) };
  await expect(mask()).resolves.toBeUndefined();
});

// TELEMETRY-17
test.each<[string, number, object]>([
  ["it knows no such call", 404, refusal("not_found")],
  ["the call has another method there", 405, refusal("method_not_allowed")],
  ["the lease does not hold the browser", 409, refusal("not_holder")],
  ["the lease has too many values", 429, refusal("too_many_requests")],
  ["it failed", 500, refusal("internal_error")],
  ["it waits for its setup", 503, refusal("awaits_setup")],
  ["nothing that has a meaning", 200, {}],
  ["a success of another kind", 201, state(held)],
  ["a refusal with the status of a success", 200, refusal("not_found")],
  ["the state of no lease", 200, state(null)],
  ["the state of another session", 200, state({ ...held, session_id: "other" })],
  ["the state of an earlier lease", 200, state({ ...held, seq: 6 })],
  ["the state of a lease of another epoch", 200, state({ ...held, epoch: 1 })],
])("no fill goes on after the answer of %s", async (_what, status, body) => {
  answer = { status, body };
  await expect(mask()).rejects.toMatchObject({ name: "FillRefused", code: "browser_not_ready" });
});

// TELEMETRY-17
test("no fill goes on without an answer", async () => {
  isMute = true;
  await expect(mask()).rejects.toMatchObject({ name: "FillRefused", code: "browser_not_ready" });
});
