import { connect, type Page } from "puppeteer-core";
import { type Lane, type Phase, projectNamespace } from "../lane.ts";
import { callOf } from "./call.ts";

const origin = "https://shop.example";

/** Served from here, whatever the browser's network is: no request leaves it. */
const loginPage = "<!doctype html><title>shop</title><input id=user><input id=pw type=password>";

const intercept = async (page: Page): Promise<void> => {
  await page.setRequestInterception(true);
  page.on("request", (request) => void request.respond({ contentType: "text/html", body: loginPage }));
};

/** Opens the page in a browser that has the vault, fills the item into it, and returns what stands in its fields. */
const filled = async (lane: Lane, vault: string, item: string): Promise<string[]> => {
  const call = callOf(lane);
  const session = await call("POST", "/browsers", { headless: true, vaults: [{ id: vault }] });
  try {
    const browser = await connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
    const [page] = await browser.pages();
    if (!page) throw new Error("no page");
    await intercept(page);
    await page.goto(`${origin}/login`);
    const fields = [
      { field: "username", selector: "#user" },
      { field: "password", selector: "#pw" },
    ];
    const request = { type: "fill", browser_id: session.session_id, page_url: `${origin}/login`, fields };
    const { status } = await call("POST", `/vaults/${vault}/items/${item}/operations`, request);
    if (status !== "completed") throw new Error(`the fill is ${status}`);
    const values = await page.$$eval("input", (inputs) =>
      inputs.map((input) => (input as unknown as { value: string }).value),
    );
    await browser.disconnect();
    return values;
  } finally {
    await call("DELETE", `/browsers/${session.session_id}`);
  }
};

const expectValues = (actual: string[], expected: string[]): void => {
  if (actual.join() !== expected.join()) throw new Error("the page has other values than the vault");
};

export const vault: Phase = {
  name: "vault",
  summary: "a login by HTTP and one by YAML, filled into a page",
  async run(lane, check) {
    const call = callOf(lane);
    await check("a login that HTTP has stored is filled", async () => {
      const values = { username: "ann", password: "by-http" };
      await call("POST", "/credentials", { name: "lane-http", domain: "shop.example", values });
      const connection = { domain: "shop.example", profile_name: "lane", credential: { name: "lane-http" } };
      const { id } = await call("POST", "/auth/connections", connection);
      await call("POST", "/vaults", { name: "lane-http" });
      const spec = { provider: "managed_auth", connection_id: id, allowed_origins: [origin] };
      await call("PUT", "/vaults/lane-http/items/shop", { type: "credential", spec });
      const { id: vaultId } = await call("GET", "/vaults/lane-http");
      expectValues(await filled(lane, vaultId, "shop"), Object.values(values));
      await call("DELETE", "/vaults/lane-http");
      await call("DELETE", `/auth/connections/${id}`);
      await call("DELETE", "/credentials/lane-http");
    });
    await check("a login that YAML keeps is filled (manifests/samples/vault.yaml)", async () => {
      const sample = ["--namespace", projectNamespace, "--filename", "manifests/samples/vault.yaml"];
      await lane.kubectl("apply", ...sample);
      await lane.kubectl(
        "wait",
        "--namespace",
        projectNamespace,
        "vaultitem/team-shop",
        "--for=condition=Ready",
        "--timeout=60s",
      );
      expectValues(await filled(lane, "team", "shop"), ["alice", "change-me"]);
      // The item goes with its vault.
      await lane.kubectl("delete", ...sample, "--ignore-not-found", "--timeout=60s");
    });
  },
};
