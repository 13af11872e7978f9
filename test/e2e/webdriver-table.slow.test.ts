/** The table of docs/webdriver.md: what each command and event of WebDriver BiDi comes to at a `webdriver_ws_url`. */
import { expect, test } from "vitest";
import { documentedOutcomes, tryAlone, tryEverything } from "../support/bidi/try-everything.ts";
import { filledPool } from "../support/filled-pool.ts";
import { startProject } from "../support/stack.ts";

/** A hundred tries take 20 s on a quiet machine. */
const timeout = 120_000;

// LEASE-59
test("commands and events do what the table says", { timeout }, async () => {
  await using stack = await startProject();
  const { id } = await filledPool(stack.kernel);
  const { webdriver_ws_url: url } = await stack.kernel.browserPools.acquire(id, { acquire_timeout_seconds: 30 });
  const measured = {
    ...(await tryEverything({ url })),
    ...(await tryAlone(url, "session.new", { capabilities: {} })),
    ...(await tryAlone(url, "session.end")),
    ...(await tryAlone(url, "browser.close")),
  };
  expect(measured).toEqual(await documentedOutcomes(1));
});
