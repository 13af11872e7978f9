/** Clients of a browser whose node goes by another time than the gateway. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { nonceHeader } from "../../../src/core/protocol/agent-proof.ts";
import { agentTokenSeconds } from "../../../src/core/protocol/agent-token.ts";
import { holdSession } from "../../support/held-session.ts";
import { usualPod } from "../../support/lease-parts.ts";
import { provenUpgrade, sendProven } from "../../support/proven-answers.ts";
import { upgrade } from "../../support/raw-http.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases();
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** The time, s since 1970, at which the token of a request ends. */
const endOf = (authorization = ""): number => {
  const [, claims = ""] = authorization.split(".");
  return JSON.parse(Buffer.from(claims, "base64url").toString()).exp;
};

/** An agent whose clock is ahead of ours. `asked`: the times at which the tokens of clients end. */
const startAgentAhead = async (aheadSeconds: number) => {
  const asked: number[] = [];
  const nowMs = (): number => Date.now() + aheadSeconds * 1000;
  const key = api.services.agentKeys.keyOf(usualPod);
  const server = createServer((request, response) => {
    sendProven(key, { request, response }, 401, { code: "unauthorized", message: "no", now: nowMs() });
  });
  server.on("upgrade", ({ headers }, socket) => {
    const end = endOf(headers.authorization);
    asked.push(end);
    const head = `${nonceHeader}: ${headers[nonceHeader]}`;
    socket.on("error", () => undefined).end(provenUpgrade(key, head, end * 1000 > nowMs() ? 101 : 401));
  });
  server.listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

// LEASE-55
test("a client reaches its browser, whose agent takes the second token: one by its own time", async () => {
  const aheadSeconds = 10 * agentTokenSeconds;
  const { address, asked } = await startAgentAhead(aheadSeconds);
  const { session, jwt } = await holdSession(
    { parts: api.parts, signingKey: api.services.signingKey },
    { project: newId(), address },
  );
  expect(await upgrade(`${api.url}/gateway/${session}/cdp?jwt=${jwt}`)).toMatchObject({ status: 101 });
  const [first = 0, second = 0] = asked;
  expect(asked).toHaveLength(2);
  expect(second - first).toBeGreaterThan(aheadSeconds - agentTokenSeconds);
});
