/**
 * The side of the API and of the operator: their clients send what an example says, and make of its answer what it
 * says. A server that plays the agent notes each request and gives the answer.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nonceIn, proofOf } from "../../src/core/protocol/agent-proof.ts";
import { createAgentTokenVerifier } from "../../src/core/protocol/agent-token.ts";
import { openStream, openText, sealBytes } from "../../src/core/protocol/sealed-bytes.ts";
import { leftContext } from "../../src/features/files/agent/api.ts";
import { pieceContext } from "../../src/features/recordings/agent/api.ts";
import { loopbackAddress } from "../support/loopback-address.ts";
import { websocketAccept } from "../support/websocket-accept.ts";
import { agentCalls } from "./agent-clients.ts";
import { type AgentExample, agentExamples } from "./agent-examples.ts";
import { sealedBody } from "./agent-states.ts";
import { agentKey, pod, session, verifyKey } from "./parties.ts";
import { expected, filled } from "./placeholders.ts";

/** Headers of the connection, not of the call. */
const ofConnection = ["host", "content-length", "transfer-encoding"];

type Noted = { method: string | undefined; path: string | undefined; headers: object; body: Buffer };

const noted = (request: IncomingMessage, body: Buffer): Noted => {
  const isUpgrade = request.headers.upgrade !== undefined;
  const left = [...ofConnection, ...(isUpgrade ? [] : ["connection"])];
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !left.includes(name)));
  return { method: request.method, path: request.url, headers, body };
};

/**
 * The answer's headers and the text of its body; the proof is over what follows the head, but for lines and upgrades.
 */
const answerTo = async (request: IncomingMessage, { answer }: AgentExample) => {
  const { method = "", url: path = "" } = request;
  const piece = (): string =>
    path.startsWith("/files")
      ? sealBytes(agentKey, Buffer.from("what a session has left"), leftContext(session, 0)).toString("base64")
      : sealBytes(agentKey, Buffer.from("a part of a video"), pieceContext(session, "recording1", 0)).toString(
          "base64",
        );
  const lines = answer.lines?.map((line) => `${JSON.stringify("piece" in line ? { piece: piece() } : filled(line))}\n`);
  // The client makes its next tokens by the time that an agent says, and the verifier here has the clock of now.
  const said = filled(answer, { ms: Date.now() });
  const body = lines ? Buffer.from(lines.join("")) : ((await sealedBody(said)) ?? Buffer.alloc(0));
  const isAfterHead = lines !== undefined || answer.bytes !== undefined || request.headers.upgrade !== undefined;
  const nonce = nonceIn(request.headers) ?? "";
  const proof = proofOf(agentKey, { nonce, method, path, status: answer.status, body: isAfterHead ? "" : body });
  const accept = websocketAccept(String(request.headers["sec-websocket-key"]));
  return { headers: filled(answer.headers, { proof, "websocket accept": accept }), body };
};

/** Plays the agent of one example, at an address of its own: a late probe of another example does not come here. */
const playAgent = async (example: AgentExample) => {
  const requests: Noted[] = [];
  const play = async (request: IncomingMessage, body: Buffer) => {
    requests.push(noted(request, body));
    return { ...(await answerTo(request, example)), answer: example.answer };
  };
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { headers, body, answer } = await play(request, await buffer(request));
    response.writeHead(answer.status, headers).write(body);
    if (!answer.goesOn) response.end();
  });
  server.on("upgrade", async (request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => undefined);
    const { headers, body, answer } = await play(request, Buffer.alloc(0));
    const said = answer.status === 101 ? { connection: "Upgrade", upgrade: "websocket" } : { connection: "close" };
    const head = Object.entries({ ...said, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${answer.status} As recorded\r\n${head.join("")}\r\n`);
    if (answer.status !== 101) socket.end(body);
  });
  const host = loopbackAddress();
  server.listen(0, host);
  await once(server, "listening");
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

const verify = createAgentTokenVerifier(verifyKey, pod.uid);

const bodyIn = async (body: Buffer, { request }: AgentExample): Promise<unknown> => {
  if (request.bytes !== undefined) return { bytes: String(body) };
  if (request.sealed !== undefined) return { sealed: JSON.parse(openText(agentKey, body)) };
  if (request.sealedStream !== undefined) {
    const parts: Buffer[] = [];
    for await (const part of openStream(
      agentKey,
      (async function* () {
        yield body;
      })(),
    ))
      parts.push(part);
    return { sealedStream: String(Buffer.concat(parts)) };
  }
  return body.length > 0 ? { body: JSON.parse(String(body)) } : {};
};

const all = new AsyncDisposableStack();
let calls: ReturnType<typeof agentCalls>;
beforeAll(() => {
  calls = agentCalls(all);
});
afterAll(() => all.disposeAsync());

test.each(agentExamples.filter(({ call }) => call !== undefined))("$title", async (example) => {
  await using agent = await playAgent(example);
  const { call: [method, args] = [""], request, answer } = example;
  const call = calls[method];
  if (!call) throw new Error(`agent-clients.ts has no ${method}`);
  const most = answer.goesOn && (answer.lines?.length ?? 0);
  const result = await call(args as never, { address: agent.address, most, seen: () => agent.requests.length });

  expect(agent.requests.length).toBeGreaterThan(0);
  const { method: verb, path, headers, ...bodies } = request;
  for (const { body, ...sent } of agent.requests) {
    expect(sent).toEqual({ method: verb, path, headers: expected(headers) });
    expect(await bodyIn(body, example)).toEqual(expected(bodies));
    const { authorization } = sent.headers as { authorization?: string };
    if (authorization) expect(await verify(authorization.replace("Bearer ", "")), "the token").toBe(true);
  }
  expect(JSON.parse(JSON.stringify(result ?? null))).toEqual(expected(example.result ?? null));
});

test("every method of the clients has an example", () => {
  const used = new Set(agentExamples.flatMap(({ call }) => call?.[0] ?? []));
  expect([...used].sort()).toEqual(Object.keys(calls).sort());
});
