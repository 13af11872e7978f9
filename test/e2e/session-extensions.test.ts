/** Extensions of one session, as the SDK loads them. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toFile } from "@onkernel/sdk";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { ownAddress } from "../support/own-address.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let site: Server;
let siteUrl: string;
beforeAll(async () => {
  site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<body>page</body>"));
  site.listen(0, "0.0.0.0");
  await once(site, "listening");
  siteUrl = `http://${ownAddress()}:${(site.address() as AddressInfo).port}/`;
  stack = await startProject();
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  site?.closeAllConnections();
  site?.close();
});

const marking = async (name: string) => ({ name, zip_file: await toFile(markingExtension(name), `${name}.zip`) });

const formOf = (name: string): FormData => {
  const form = new FormData();
  form.append("extensions[0][name]", name);
  form.append("extensions[0][zip_file]", new Blob([new Uint8Array(markingExtension(name))]), `${name}.zip`);
  return form;
};

/** The marks that a new page gets; `count`: how many are waited for. */
const marksIn = async ({ cdp_ws_url }: { cdp_ws_url?: string }, count: number): Promise<string[]> => {
  const browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url ?? "", defaultViewport: null });
  const page = await browser.newPage();
  await page.goto(siteUrl);
  const marks = await eventually(`${count} marks`, async () => {
    const found = (await page.evaluate("Object.keys({ ...document.body.dataset })")) as string[];
    return found.length >= count && found;
  });
  await browser.disconnect();
  return marks.toSorted();
};

// EXTENSION-17, EXTENSION-18
test("the SDK loads extensions, a token's holder further ones, and the next holder of the browser has none", async () => {
  const { kernel } = stack;
  const { id } = await filledPool(kernel, { size: 1 });
  const acquire = () => kernel.browserPools.acquire(id, { acquire_timeout_seconds: 60 });
  const session = await acquire();
  const extensions = [await marking("one"), await marking("two")];
  await kernel.browsers.loadExtensions(session.session_id, { extensions });
  expect(await marksIn(session, 2)).toEqual(["one", "two"]);

  const { search } = new URL(session.cdp_ws_url ?? "");
  const loaded = await fetch(`${session.base_url}/extensions${search}`, { method: "POST", body: formOf("three") });
  expect(loaded.status).toBe(204);
  expect(await marksIn(session, 3)).toEqual(["one", "three", "two"]);
  // Nothing is stored.
  expect((await kernel.extensions.list()).getPaginatedItems()).toEqual([]);

  await kernel.browserPools.release(id, { session_id: session.session_id });
  const next = await acquire();
  expect(await marksIn(next, 0)).toEqual([]);
  await kernel.browserPools.release(id, { session_id: next.session_id });
});

// EXTENSION-19, EXTENSION-20
test("what is wrong with an extension is named, and other keys and projects don't find the session", async () => {
  const { kernel } = stack;
  const { session_id: id } = await kernel.browsers.create({ headless: true });
  const broken = { name: "broken", zip_file: await toFile(Buffer.from("no zip"), "broken.zip") };
  await expect(
    kernel.browsers.loadExtensions(id, { extensions: [await marking("one"), broken] }),
  ).rejects.toMatchObject({
    status: 400,
    error: {
      code: "bad_request",
      details: [{ path: "extensions", message: expect.stringMatching(/^extensions: broken: this is no zip archive/) }],
    },
  });
  await kernel.browsers.loadExtensions(id, { extensions: [await marking("one")] });
  await expect(kernel.browsers.loadExtensions(id, { extensions: [await marking("one")] })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("one is loaded already"),
  });

  const keyFor = async (project_id: string, permissions: string[]): Promise<string> => {
    const made = await stack.call("POST", "/org/api_keys", { name: `k-${newId()}`, project_id, permissions });
    return ((await made.json()) as { key: string }).key;
  };
  const other = await kernel.projects.create({ name: `other ${newId()}` });
  const path = `/browsers/${id}/extensions`;
  for (const [key, status] of [
    [await keyFor(stack.project, ["pools:write"]), 403],
    [await keyFor(other.id, ["browsers:use"]), 404],
    ["bp_unknown", 401],
  ] as const) {
    const answer = await fetch(stack.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: formOf("two"),
    });
    expect(answer.status).toBe(status);
  }
  await kernel.browsers.deleteByID(id);
  await kernel.projects.delete(other.id);
});
