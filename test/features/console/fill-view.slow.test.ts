/** A fill from the console into the page of a real session. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { allOf, expectWell, fill, press, untilSaid } from "./console-actions.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const json = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const answer = await stack.call(method, path, body);
  expect(answer.ok, path).toBe(true);
  return (await answer.json()) as T;
};

const form =
  "data:text/html,<title>shop</title><input id=user><input id=word type=password><input class=two><input class=two>";

test("a person fills an item into a session, sees what came of it, and what was done with the item", async () => {
  const { kernel } = stack;
  const values = { username: "alice", password: "not-for-the-page" };
  await kernel.credentials.create({ name: "shop", domain: "shop.example", values });
  const login = await kernel.auth.connections.create({
    ...{ domain: "shop.example", profile_name: "alice", credential: { name: "shop" } },
  });
  const vault = await json<{ id: string }>("POST", "/vaults", { name: "team" });
  const spec = { provider: "managed_auth", connection_id: login.id };
  await json("PUT", "/vaults/team/items/shop", { type: "credential", spec });
  const session = await json<{ session_id: string }>("POST", "/browsers", {
    ...{ headless: true, vaults: [{ id: vault.id }], start_url: form },
  });

  const path = "/vaults/team/items/shop";
  const { page, faults } = await openConsole(viewers, { url: stack.url, key: stack.api_key, path });
  await press(page, "Fill into a session");
  await fill(page, "Session id", session.session_id);
  await fill(page, "Selector of field 1", "%bad");
  await fill(page, "Selector of field 2", "#word");
  await press(page, "Fill");
  await page.waitForSelector("dialog [role=alert]");
  await expectWell(page, "a refused fill");
  await fill(page, "Selector of field 1", "#user");
  await press(page, "Fill");
  await untilSaid(page, "Every field has its value.");
  await untilSaid(page, "password: filled");
  await expectWell(page, "a fill");
  expect(await allOf(page)).not.toContain("not-for-the-page");
  await untilSaid(page, "Filled");
  const events = await json<{ type: string; outcome?: string }[]>("GET", `${path}/events?wait=0`);
  expect(events.at(-1)).toMatchObject({ type: "fill", outcome: "completed", browser_id: session.session_id });
  expect(faults).toEqual([]);
});
