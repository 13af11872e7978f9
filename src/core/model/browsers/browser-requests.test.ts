import { expect, test } from "vitest";
import { newBrowserSpec } from "./browser-requests.ts";
import { CreateBrowser } from "./browser-wire.ts";

const created = (body: object) => newBrowserSpec(CreateBrowser.parse(body));

// BROWSER-2, BROWSER-3, BROWSER-21
test("a request may have every setting, and has the defaults for what it leaves out", () => {
  expect(created({})).toEqual({
    ok: true,
    spec: {
      timeoutSeconds: 60,
      headless: false,
      stealth: false,
      kioskMode: false,
      memory: "8GiB",
      gpu: false,
      vaults: [],
    },
  });
  const settings = {
    headless: false,
    stealth: true,
    gpu: true,
    kiosk_mode: true,
    memory: "16GiB",
    viewport: { width: 800, height: 600 },
    timeout_seconds: 90,
    start_url: "https://a.test",
    name: "mine",
    tags: { team: "a" },
    profile: { name: "work" },
    proxy: { id: "p" },
    extensions: [{ id: "e" }],
    chrome_policy: { PrintingEnabled: false },
    network: { private_hosts: [] },
    telemetry: { enabled: true },
    vaults: [{ id: "v" }],
  };
  expect(created(settings)).toMatchObject({
    ok: true,
    spec: {
      stealth: true,
      gpu: true,
      kioskMode: true,
      memory: "16GiB",
      viewport: { width: 800, height: 600 },
      timeoutSeconds: 90,
      startUrl: "https://a.test",
      name: "mine",
      tags: { team: "a" },
      profile: { name: "work" },
      proxyId: "p",
      extensions: [{ id: "e" }],
      chromePolicy: { PrintingEnabled: false },
      network: { privateHosts: [] },
      telemetry: { enabled: true },
      vaults: [{ id: "v" }],
    },
  });
  expect(created({ proxy_id: "q" })).toMatchObject({ spec: { proxyId: "q" } });
});

// BROWSER-7
test.each([{ proxy: {} }, { proxy: { id: "p", mode: "direct" } }])("%j is refused", (body) => {
  expect(created(body)).toMatchObject({ ok: false, problems: [{ path: "proxy" }] });
});

// LIMIT-6
test("its policy may be 256 KiB when serialized, and not one byte more", () => {
  const frame = JSON.stringify({ HomepageLocation: "" }).length;
  const policy = (bytes: number) => ({ chrome_policy: { HomepageLocation: "a".repeat(bytes - frame) } });
  expect(created(policy(256 * 1024)).ok).toBe(true);
  expect(created(policy(256 * 1024 + 1))).toMatchObject({ ok: false, problems: [{ path: "chrome_policy" }] });
});
