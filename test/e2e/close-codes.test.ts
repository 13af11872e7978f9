/** The codes with which a client's WebSocket is closed, by why (docs/clients.md). */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { filledPool } from "../support/filled-pool.ts";
import { connectRawCdp } from "../support/raw-cdp.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let poolId: string;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await filledPool(stack.kernel, { size: 1, max_session_seconds: 10 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Session = { session_id: string; cdp_ws_url: string };

const acquire = (): Promise<Session> => stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 60 });
const onDemand = (): Promise<Session> => stack.kernel.browsers.create({ headless: true });

// LEASE-66
test.each<[string, { begin: () => Promise<Session>; finish: (session: Session) => Promise<unknown>; code: number }]>([
  [
    "released",
    {
      begin: acquire,
      finish: ({ session_id }) => stack.kernel.browserPools.release(poolId, { session_id, reuse: true }),
      code: 4000,
    },
  ],
  [
    "deleted",
    { begin: onDemand, finish: ({ session_id }) => stack.kernel.browsers.deleteByID(session_id), code: 4000 },
  ],
  ["max_lifetime", { begin: acquire, finish: async () => undefined, code: 4001 }],
])("a client whose session ends as %s is told so", async (why, { begin, finish, code }) => {
  const session = await begin();
  const { closed } = await connectRawCdp(session.cdp_ws_url);
  await finish(session);
  expect(await closed).toEqual({ code, reason: `the session has ended: ${why}` });
});

// LEASE-66
test.each(["Browser.crash", "Browser.close"])("a client whose browser ends by %s is told so", async (method) => {
  const session = await onDemand();
  const { send, closed } = await connectRawCdp(session.cdp_ws_url);
  send(method).catch(() => undefined);
  expect(await closed).toEqual({ code: 4002, reason: "the session has ended: browser_crashed" });
});

// LEASE-66
test("all clients of a session are told", async () => {
  const session = await onDemand();
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectRawCdp(session.cdp_ws_url)));
  await stack.kernel.browsers.deleteByID(session.session_id);
  const codes = await Promise.all(clients.map(async ({ closed }) => (await closed).code));
  expect(codes).toEqual(Array.from({ length: 10 }, () => 4000));
});

// LEASE-66
test("a client whose browser starts another Chromium is told nothing of an end: its URL leads there", async () => {
  const session = await onDemand();
  const { closed } = await connectRawCdp(session.cdp_ws_url);
  const path = `/browsers/${session.session_id}`;
  expect((await stack.call("PATCH", path, { location: { timezone: "Europe/Berlin" } })).status).toBe(200);
  expect(await closed).toEqual({ code: 1001, reason: "the session has ended, or its browser has" });
  await (await connectRawCdp(session.cdp_ws_url)).close();
});

test("a client's ping is answered, and so is its own close", async () => {
  const session = await onDemand();
  const socket = new WebSocket(session.cdp_ws_url);
  await once(socket, "open");
  socket.ping("still there?");
  expect(String((await once(socket, "pong"))[0])).toBe("still there?");
  socket.close(3001, "done");
  expect((await once(socket, "close"))[0]).toBe(1000);
  await stack.kernel.browsers.deleteByID(session.session_id);
});
