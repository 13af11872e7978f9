/** A replica that stops: what is under way at its sockets ends at once, and callers are told. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type RunningApi, startApi } from "../../../src/cmd/api.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { closingFrame } from "../../../src/platform/cdp/follow-frames.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { holdSession } from "../../support/held-session.ts";
import { type LeaseParts, silent, startLeaseParts, usualPod } from "../../support/lease-parts.ts";
import { provenUpgrade } from "../../support/proven-answers.ts";
import { type OrgParts, startOrg } from "../projects/org-parts.ts";

let org: OrgParts;
let parts: LeaseParts;
beforeAll(async () => {
  [org, parts] = await Promise.all([startOrg(), startLeaseParts()]);
});
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]();
  await org?.[Symbol.asyncDispose]();
});

const startReplica = async (stopGraceMs: number): Promise<RunningApi> => {
  const { kubeconfigPath } = await sharedServers();
  return startApi({ config: { ...org.config, stopGraceMs }, kubeconfigPath }, silent);
};
const sessionAt = ({ services: { signingKey } }: RunningApi, address?: string) =>
  holdSession({ parts, signingKey }, { project: newId(), ...(address && { address }) });

/** An agent that takes every upgrade. */
const startAgent = async ({ services: { agentKeys } }: RunningApi): Promise<string> => {
  const agent = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head) => socket.resume().write(provenUpgrade(agentKeys.keyOf(usualPod), String(head))));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void agent.close());
  await once(agent, "listening");
  return `127.0.0.1:${(agent.address() as AddressInfo).port}`;
};

/** Asks for a session's browser. `told`: what was answered so far. */
const connectClient = ({ url }: RunningApi, session: string, jwt: string): { told(): string } => {
  const { hostname, port, host } = new URL(url);
  const client = connect(Number(port), hostname).on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  let told = "";
  client.on("data", (chunk) => {
    told += chunk.toString("latin1");
  });
  const lines = [`GET /gateway/${session}/cdp?jwt=${jwt} HTTP/1.1`, `Host: ${host}`, "Connection: Upgrade"];
  client.write(`${lines.join("\r\n")}\r\nUpgrade: websocket\r\n\r\n`);
  return { told: () => told };
};

/** Whether nobody listens there any more. */
const isShut = async (url: string): Promise<boolean> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
};

test("a client whose session is being looked up when the gateway closes is refused, and holds up no stop", async () => {
  const replica = await startReplica(0);
  const { session, jwt } = await sessionAt(replica, await startAgent(replica));
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { store } = replica.services;
  const lease: typeof store.lease = async (...which) => {
    const found = await store.lease(...which);
    asked.resolve();
    await goOn.promise;
    return found;
  };
  replica.services.store = { ...store, lease };
  const { told } = connectClient(replica, session, jwt);
  await asked.promise;
  const stopped = replica.stop();
  await eventually("the replica takes no connection any more", () => isShut(replica.url));
  goOn.resolve();
  await eventually("the client is told", () => told() !== "");
  expect(told()).toMatch(/^HTTP\/1\.1 503 .*"code":"unavailable"/s);
  await stopped;
});

// LEASE-66
test("a replica whose grace is over ends sockets with a code by which clients connect again", async () => {
  const replica = await startReplica(0);
  const { session, jwt } = await sessionAt(replica, await startAgent(replica));
  const { told } = connectClient(replica, session, jwt);
  await eventually("the client is connected", () => told().startsWith("HTTP/1.1 101 "));
  await replica.stop();
  const closing = closingFrame(1012, "this replica stops; connect to the same URL again").toString("latin1");
  await eventually("the client is told", () => told().split("\r\n\r\n")[1] === closing);
});

// STREAM-4
test("a stream below a session's URL ends when its replica begins to stop, and is not waited for", async () => {
  const replica = await startReplica(3_600_000);
  const { session, jwt } = await sessionAt(replica);
  const asked = get(`${replica.url}/gateway/${session}/telemetry/stream?jwt=${jwt}`);
  onTestFinished(() => void asked.destroy());
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  const stopped = replica.stop();
  expect(await text(answer)).toMatch(/event: error\ndata: .*"code":"unavailable"/);
  await stopped;
});
