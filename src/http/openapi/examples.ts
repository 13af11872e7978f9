/** Examples of the document's schemas by name. A test reads each with the schema it is for. */
import type { Json } from "./schemas.ts";

const poolId = "tz4a98xxat96iws9zmbrgj3a";
const sessionId = "pfh0haxfpzowht3oi213cqos";
const settings = { headless: true, stealth: false, kiosk_mode: false };

export const examples: Record<string, Json> = {
  CreateBrowserPool: { name: "checkout", size: 5, headless: true, viewport: { width: 1280, height: 800 } },
  UpdateBrowserPool: { size: 10, discard_all_idle: true },
  AcquireBrowser: { acquire_timeout_seconds: 30, name: "order-4711", tags: { team: "shop" } },
  ReleaseBrowser: { session_id: sessionId, reuse: true },
  BrowserPool: {
    id: poolId,
    name: "checkout",
    region: "us-east",
    created_at: "2026-01-02T03:04:05.678Z",
    acquired_count: 1,
    available_count: 4,
    extension_ids: [],
    browser_pool_config: {
      ...settings,
      name: "checkout",
      size: 5,
      fill_rate_per_minute: 25,
      timeout_seconds: 600,
      memory: "8GiB",
      viewport: { width: 1280, height: 800 },
    },
  },
  Session: {
    ...settings,
    session_id: sessionId,
    cdp_ws_url: `ws://127.0.0.1:8080/gateway/${sessionId}/cdp?jwt=eyJhbGciOiJFZERTQSJ9`,
    webdriver_ws_url: `ws://127.0.0.1:8080/gateway/${sessionId}/webdriver?jwt=eyJhbGciOiJFZERTQSJ9`,
    base_url: `http://127.0.0.1:8080/gateway/${sessionId}`,
    created_at: "2026-01-02T03:04:05.678Z",
    timeout_seconds: 600,
    gpu: false,
    name: "order-4711",
    tags: { team: "shop" },
    viewport: { width: 1280, height: 800 },
    pool: { id: poolId, name: "checkout" },
  },
};
