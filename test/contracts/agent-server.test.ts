/**
 * The agent's side of its recorded API: in the state that an example names, it takes the request and gives the answer.
 */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type DevToolsPlace, placeOf } from "../../src/core/agent/connect-dev-tools.ts";
import { isProofOf, nonceHeader, proofHeader } from "../../src/core/protocol/agent-proof.ts";
import { agentRoutes } from "../../src/core/protocol/agent-routes.ts";
import { openBytes, openStream } from "../../src/core/protocol/sealed-bytes.ts";
import { leftContext } from "../../src/features/files/agent/api.ts";
import { pieceContext } from "../../src/features/recordings/agent/api.ts";
import { launchChromium } from "../support/plain-chromium.ts";
import { type AgentExample, agentExamples } from "./agent-examples.ts";
import { type AgentAtWork, agentStates, sealedBody, startAgent } from "./agent-states.ts";
import { agentKey, agentTokens, pod, session } from "./parties.ts";
import { expected, filled } from "./placeholders.ts";

const all = new AsyncDisposableStack();
let devTools: DevToolsPlace;
beforeAll(async () => {
  const profileDir = await mkdtemp(join(tmpdir(), "contract-chromium-"));
  all.defer(() => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }));
  const chromium = await launchChromium(profileDir);
  all.defer(() => chromium.close());
  devTools = placeOf(chromium.wsEndpoint(), undefined);
});
afterAll(() => all.disposeAsync());

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

/** Up to so many lines; to the end when the example's stream ends. */
const linesOf = async (answer: IncomingMessage, { lines = [], goesOn }: AgentExample["answer"]): Promise<unknown[]> => {
  const read: unknown[] = [];
  if (goesOn && lines.length === 0) return read;
  let rest = "";
  for await (const chunk of answer) {
    rest += chunk;
    const whole = rest.split("\n");
    rest = whole.pop() ?? "";
    read.push(...whole.filter(Boolean).map((line) => JSON.parse(line) as unknown));
    if (goesOn && read.length >= lines.length) break;
  }
  return read;
};

/**
 * A video has as many pieces as its encoder wants, and what a session has left as many as its files: each must open for
 * its place. One stands for all of them, before the others or where the first was.
 */
const openedPieces = (lines: unknown[], { request }: Pick<AgentExample, "request">): unknown[] => {
  const isLeft = request.path.startsWith("/files");
  const contextAt = (offset: number): string =>
    isLeft ? leftContext(session, offset) : pieceContext(session, "recording1", offset);
  let offset = 0;
  const others = lines.filter((line) => {
    const { piece } = line as { piece?: string };
    if (piece === undefined) return true;
    offset += openBytes(agentKey, Buffer.from(piece, "base64"), contextAt(offset)).length;
    return false;
  });
  if (offset === 0) return others;
  return isLeft ? [...others, { piece: "{piece}" }] : [{ piece: "{piece}" }, ...others];
};

const checkProof = (answer: IncomingMessage, { request }: AgentExample, body: string): void => {
  const proof = String(answer.headers[proofHeader]);
  const { method, path } = request;
  const proven = { nonce: nonceOf(request.headers), method, path, status: answer.statusCode ?? 0, body };
  expect(isProofOf(agentKey, proof, proven), "the proof of the answer").toBe(true);
};

const nonceOf = (headers: Record<string, string>): string => String(filled(headers[nonceHeader] ?? ""));

const checkBody = async (answer: IncomingMessage, example: AgentExample, agent: AgentAtWork): Promise<void> => {
  const { answer: wanted } = example;
  const isProven = proofHeader in wanted.headers;
  if (wanted.lines) {
    if (isProven) checkProof(answer, example, "");
    const lines = await linesOf(answer, wanted);
    expect(openedPieces(lines, example)).toEqual(expected(wanted.lines));
  } else if (wanted.bytes !== undefined) {
    checkProof(answer, example, "");
    expect(await text(answer)).toBe(wanted.bytes);
  } else if (wanted.sealedStream !== undefined) {
    const hash = createHash("sha256");
    for await (const part of openStream(agentKey, answer)) hash.update(part);
    const { answer: told } = await agent.open({ method: "GET", path: "/profile" });
    expect(JSON.parse(await text(told))).toMatchObject({ sha256: hash.digest("hex") });
  } else if (wanted.status !== 101) {
    const said = await text(answer);
    expect(JSON.parse(said)).toEqual(expected(wanted.body));
    // That of an upgrade's answer comes before its body is known.
    if (isProven) checkProof(answer, example, "upgrade" in example.request.headers ? "" : said);
  } else if (isProven) checkProof(answer, example, "");
};

test.each(agentExamples.filter(({ given }) => given !== undefined))("$title", async (example) => {
  const { given = "", request, answer: wanted } = example;
  const { options, reach } = agentStates[given] ?? {};
  const agent = await startAgent({ devTools, ...options }, stack);
  await reach?.(agent);

  const token = agentTokens.tokenFor(pod.uid);
  const { method, path } = request;
  const body = await sealedBody(request);
  const headers = filled(request.headers, { token });
  const { answer, socket } = await agent.open({ method, path, headers, ...(body && { body }) });
  stack.defer(() => void (socket ?? answer).destroy());
  expect(answer.statusCode, STATUS_CODES[answer.statusCode ?? 0]).toBe(wanted.status);
  expect(answer.headers).toMatchObject(expected(wanted.headers) as object);
  if (!(proofHeader in wanted.headers)) expect(answer.headers).not.toHaveProperty(proofHeader);
  await checkBody(answer, example, agent);
});

test("every state of the agent is one that an example is given in", () => {
  expect([...new Set(agentExamples.flatMap(({ given }) => given ?? []))].sort()).toEqual(
    Object.keys(agentStates).sort(),
  );
});

/** `/archives/` of `/archives/abc`. */
const routeOf = ({ method, path }: AgentExample["request"]): string => {
  const { pathname } = new URL(path, "http://agent");
  const isFolder = (route: string): boolean => route.endsWith("/") && pathname.startsWith(route);
  return `${method} ${Object.hasOwn(agentRoutes, pathname) ? pathname : Object.keys(agentRoutes).find(isFolder)}`;
};

test("every route of the agent has examples, in its own file", () => {
  const routes = Object.entries(agentRoutes).flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`));
  expect([...new Set(agentExamples.map(({ route }) => route))].sort()).toEqual(routes.sort());
  for (const { route, request } of agentExamples) expect(routeOf(request)).toBe(route);
});
