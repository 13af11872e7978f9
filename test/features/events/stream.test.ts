/** The events of a project as a client reads them, from a running installation. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ProjectEvent } from "../../../src/features/events/event.ts";
import { docExamples } from "../../support/doc-examples.ts";
import { type EventsReader, readEvents } from "../../support/project-events.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let stack: LocalProject;

beforeAll(async () => {
  stack = await startProject();
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

const open = (asked: Partial<Parameters<typeof readEvents>[0]> = {}): Promise<EventsReader> =>
  readEvents({ url: stack.url, apiKey: stack.api_key, ...asked });

/** What was told of one object: `event kind`. */
const toldOf = ({ heard }: EventsReader, id: string): string[] =>
  heard.filter((each) => each.id === id).map(({ event }) => event);

// EVENT-1, EVENT-2
test("what becomes of a pool and of its sessions is told in order, without URLs of sessions", async () => {
  await using reader = await open();
  const { id } = await stack.kernel.browserPools.create({ name: "told", size: 1, headless: true });
  const created = await reader.until("the pool", (event) => event.id === id);
  expect(created).toMatchObject({ event: "created", kind: "pool", name: "told", object: { id, name: "told" } });
  await reader.until(
    "a browser of it is idle",
    ({ id: of, event, object }) =>
      of === id &&
      event === "changed" &&
      object !== undefined &&
      "available_count" in object &&
      object.available_count === 1,
  );
  const { session_id: session } = await stack.kernel.browserPools.acquire(id, { name: "first", tags: { team: "a" } });
  await stack.kernel.browsers.update(session, { name: "second" });
  await stack.kernel.browserPools.release(id, { session_id: session, reuse: false });
  const gone = await reader.until("its end", (event) => event.id === session && event.event === "deleted");
  const ofSession = reader.heard.filter((each) => each.id === session);
  expect(ofSession.map(({ event, kind, name }) => [event, kind, name])).toEqual([
    ["created", "session", "first"],
    ["changed", "session", "second"],
    ["deleted", "session", "second"],
  ]);
  expect(ofSession[0]?.object).toMatchObject({ session_id: session, tags: { team: "a" }, pool: { id, name: "told" } });
  expect(gone.object).toMatchObject({ end_reason: "released", deleted_at: expect.any(String) });
  expect(JSON.stringify(reader.heard)).not.toMatch(/jwt|_url/);
  await stack.kernel.browserPools.delete(id, { force: true });
  const deleted = await reader.until("the pool's end", (event) => event.id === id && event.event === "deleted");
  expect(deleted).not.toHaveProperty("object");
  expect(toldOf(reader, id).slice(-1)).toEqual(["deleted"]);
});

// EVENT-1
test("an on-demand browser is a session without a pool", async () => {
  await using reader = await open({ query: "?initial_events=true" });
  await reader.until("what there is", ({ event }) => event === "synced");
  const { session_id: session } = await stack.kernel.browsers.create({ headless: true, tags: { team: "b" } });
  const created = await reader.until("the session", ({ id }) => id === session);
  expect(created).toMatchObject({ event: "created", kind: "session", object: { tags: { team: "b" } } });
  expect(created.object).not.toHaveProperty("pool");
  await using late = await open({ query: "?initial_events=true" });
  expect(await late.until("the session", ({ id }) => id === session)).toMatchObject({ event: "current" });
  await stack.kernel.browsers.deleteByID(session);
  const gone = await reader.until("its end", ({ event, id }) => event === "deleted" && id === session);
  expect(gone.object).toMatchObject({ session_id: session, end_reason: "deleted" });
  expect(toldOf(reader, session)).toEqual(["created", "deleted"]);
  expect(JSON.stringify([...reader.heard, ...late.heard])).not.toMatch(/jwt|_url/);
});

test("the example of docs/events.md works as the page says", async () => {
  const [script = "", ...others] = docExamples("events.md", "sh");
  expect(others).toEqual([]);
  const { stdout } = await promisify(execFile)("bash", ["-uo", "pipefail", "-c", script], {
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  const events = [...stdout.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => ProjectEvent.parse(JSON.parse(json)));
  const told = events.map(({ event, kind, name }) => [event, kind, name]);
  for (const [kind, name] of [
    ["pool", "docs-events"],
    ["session", "docs-session"],
  ])
    expect(told).toEqual(expect.arrayContaining(["created", "deleted"].map((event) => [event, kind, name])));
  const gone = events.find(({ event, kind }) => event === "deleted" && kind === "session");
  expect(gone?.object).toMatchObject({ end_reason: "pool_deleted" });
});
