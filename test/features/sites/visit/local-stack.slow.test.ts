/** The local internet as browsers of a whole local stack reach it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Internet, startInternet } from "../../../support/internet/internet.ts";
import { type LocalStack, startLocalStack } from "../../../support/local-stack.ts";
import { visit } from "../../../support/visit.ts";
import { internetEnv } from "../../../support/visited-agent.ts";

const parts = new AsyncDisposableStack();
let internet: Internet;
let stack: LocalStack;
beforeAll(async () => {
  internet = parts.use(await startInternet());
  stack = parts.use(await startLocalStack({ env: internetEnv(internet) }));
});
afterAll(() => parts.disposeAsync());

test("an on-demand browser reaches its sites, directly and through each proxy", async () => {
  const direct = await stack.kernel.browsers.create({ headless: true });
  expect(await visit(direct.cdp_ws_url, internet.url("no-data-centres"))).toMatchObject({ title: "Access Denied" });
  for (const [place, title] of [
    ["US", "Not available"],
    ["DE", "Harbour Lamps"],
  ] as const) {
    const config = { host: internet.address, port: internet.proxies[place].port };
    const { id = "" } = await stack.kernel.proxies.create({ type: "custom", protocol: "http", config } as never);
    const proxied = await stack.kernel.browsers.create({ headless: true, proxy_id: id });
    expect(await visit(proxied.cdp_ws_url, internet.url("no-data-centres"))).toMatchObject({ title: "Harbour Lamps" });
    expect(await visit(proxied.cdp_ws_url, internet.url("only-germany"))).toMatchObject({ title });
  }
});
