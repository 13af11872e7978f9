/** Runs the examples of pages about browsers' settings against a service with real browsers. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { docExamples } from "../support/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { untilAvailable } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { visit } from "../support/visit.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

/** The only example in a language that a page has. */
const example = (page: string, language: string): string => {
  const [only = "", ...others] = docExamples(page, language);
  expect(others).toEqual([]);
  return only;
};

test("docs/running-browsers.md changes a browser", async () => {
  const [script = ""] = docExamples("running-browsers.md", "sh");
  // The browser must still be there when its page is looked at.
  const untilDelete = script.slice(0, script.indexOf("call DELETE"));
  expect(script).toContain("call DELETE /browsers/docs-changed");
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", untilDelete], {
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  expect(stdout).toContain('"viewport":{"width":800,"height":600');
  const session = await stack.kernel.browsers.retrieve("docs-changed");
  expect(session.tags).toEqual({ team: "docs" });
  const client = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const page = await client.newPage();
  await eventually(
    "its page has the size",
    async () => (await page.evaluate("innerWidth + 'x' + innerHeight")) === "800x600",
  );
  await client.disconnect();
  const { status } = await stack.call("DELETE", "/browsers/docs-changed");
  expect(status).toBe(204);
});

test("docs/running-browsers.md changes a list of hosts", async () => {
  const [first = "", script] = docExamples("running-browsers.md", "sh");
  const [declaration] = first.split("\n");
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", `${declaration}\n${script}`], {
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  expect(stdout).toContain('"allowlist_state":{"revision":"2","base_revision":"1","mutation_id":"narrow-1"}');
});

test("docs/code.md runs code beside a browser", async () => {
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", example("code.md", "sh")], {
    env: { ...process.env, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
  });
  expect(stdout).toContain('"result":"Hello"');
  expect(stdout).toContain('"name":"second"');
  expect(stdout).toContain('"text":"about:blank"');
});

test("docs/network.md walls a pool", async () => {
  const pool = parse(example("network.md", "yaml")) as BrowserPool;
  await stack.kube.create(browserPoolKind, { ...pool, metadata: { ...pool.metadata, namespace: stack.namespace } });
  await untilAvailable(stack.kernel, "walled", 1);
  const session = await stack.kernel.browserPools.acquire("walled", { acquire_timeout_seconds: 60 });
  expect(await visit(session.cdp_ws_url, "http://other.example/")).toMatchObject({
    text: "the host is not in allowed_hosts",
  });
  await stack.kernel.browserPools.delete("walled", { force: true });
});

test("docs/policies.md sets policies", async () => {
  const settings = JSON.parse(example("policies.md", "json")) as { chrome_policy: Record<string, unknown> };
  const session = await stack.kernel.browsers.create({ headless: true, ...settings });
  expect(await visit(session.cdp_ws_url, "http://ads.example/")).toMatchObject({
    error: "net::ERR_BLOCKED_BY_ADMINISTRATOR",
  });
  await stack.kernel.browsers.deleteByID(session.session_id);
});
