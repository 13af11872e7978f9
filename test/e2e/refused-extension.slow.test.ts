/**
 * An extension that only Chromium can refuse: who waits for a browser with it is told at once, with Chromium's words.
 */
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { eventually } from "../support/eventually.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { writeZip } from "../support/zip-writer.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const csp = "script-src 'self' 'unsafe-eval'";
const upload = async (name: string, fields: object) => {
  const content = JSON.stringify({ manifest_version: 3, name: "x", version: "1", ...fields });
  return stack.kernel.extensions.upload({
    name,
    file: await toFile(writeZip([{ name: "manifest.json", content }]), "x.zip"),
  });
};
const refused = {
  status: 400,
  error: expect.objectContaining({
    code: "bad_request",
    details: [
      expect.objectContaining({
        path: "extensions",
        message: expect.stringMatching(/does not load the extension .*Insecure CSP value/),
      }),
    ],
  }),
};

// EXTENSION-15
test("an on-demand browser with an extension that Chromium refuses is 400 with its words", async () => {
  const extensions = [await upload("refused", { content_security_policy: { extension_pages: csp } })].map(({ id }) => ({
    id,
  }));
  const { kernel } = stack;
  await expect(kernel.browsers.create({ headless: true, timeout_seconds: 60, extensions })).rejects.toMatchObject(
    refused,
  );
});

// EXTENSION-15
test("a pool with such an extension says so in its conditions, and to who acquires; another configuration mends it", async () => {
  const extensions = [await upload("pooled", { content_security_policy: { extension_pages: csp } })].map(({ id }) => ({
    id,
  }));
  const { kernel } = stack;
  const pool = await kernel.browserPools.create({
    name: "refusing",
    size: 1,
    headless: true,
    fill_rate_per_minute: 6000,
    extensions,
  });
  const reasons = async (): Promise<string[]> => {
    const found = await stack.kube.get(browserPoolKind, { name: pool.id, namespace: stack.namespace });
    return (found?.status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);
  };
  await eventually("the conditions", async () => {
    const now = await reasons();
    return now.includes("Ready SetupRefused") && now.includes("Progressing SetupRefused");
  });
  await expect(kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 })).rejects.toMatchObject(refused);
  await kernel.browserPools.update(pool.id, { size: 1, extensions: [] });
  const { session_id } = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  await kernel.browserPools.release(pool.id, { session_id });
  await kernel.browserPools.delete(pool.id, { force: true });
});
