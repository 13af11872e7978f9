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

const ended = { code: 1001, reason: "the session has ended, or its browser has" };

// LEASE-66
test.each<[string, () => Promise<Session>, (session: Session) => Promise<unknown>]>([
  ["is released", acquire, ({ session_id }) => stack.kernel.browserPools.release(poolId, { session_id, reuse: true })],
  ["is deleted", onDemand, ({ session_id }) => stack.kernel.browsers.deleteByID(session_id)],
  ["has reached its greatest age", acquire, async () => undefined],
])("a client whose session %s is told with 1001", async (_why, begin, finish) => {
  const session = await begin();
  const { closed } = await connectRawCdp(session.cdp_ws_url);
  await finish(session);
  expect(await closed).toEqual(ended);
});

// LEASE-66
test.each(["Browser.crash", "Browser.close"])("a client whose browser ends by %s is told with 1001", async (method) => {
  const session = await onDemand();
  const { send, closed } = await connectRawCdp(session.cdp_ws_url);
  send(method).catch(() => undefined);
  expect(await closed).toEqual(ended);
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
