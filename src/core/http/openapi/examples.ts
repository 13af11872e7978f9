/** Examples of the document's schemas by name. A test parses each with its schema. */
import type { Json } from "./schemas.ts";

const poolId = "tz4a98xxat96iws9zmbrgj3a";
const sessionId = "pfh0haxfpzowht3oi213cqos";
const connectionId = "k2v9x4c7b1n8m5q3w6e0r2ty";
const settings = { headless: true, stealth: false, kiosk_mode: false };

/** Schema name → example. A schema that has none here has no example in the document. */
export const examples: Record<string, Json> = {
  CreateBrowserPool: { name: "checkout", size: 5, headless: true, viewport: { width: 1280, height: 800 } },
  UpdateBrowserPool: { size: 10, discard_all_idle: true },
  AcquireBrowser: { acquire_timeout_seconds: 30, name: "order-4711", tags: { team: "shop" } },
  ReleaseBrowser: { session_id: sessionId, reuse: true },
  UpsertVault: { name: "team" },
  PutVaultItem: {
    type: "credential",
    spec: { provider: "managed_auth", connection_id: connectionId, allowed_origins: ["https://shop.example"] },
  },
  VaultItem: {
    id: "gmnqk93f2hr0x0u6c8j1v5ta",
    key: "shop",
    type: "credential",
    version: 1,
    spec: { provider: "managed_auth", connection_id: connectionId, allowed_origins: ["https://shop.example"] },
    state: {
      provider: "managed_auth",
      status: "ready",
      fields: { username: { type: "text" }, password: { type: "password" }, totp: { type: "totp" } },
    },
    available_operations: [{ type: "fill", description: "Writes stored values into fields of an open page." }],
    available_expansions: [],
    created_at: "2026-01-02T03:04:05Z",
    updated_at: "2026-01-02T03:04:05Z",
  },
  CreateCredential: {
    name: "shop",
    domain: "shop.example",
    values: { username: "alice", password: "change-me" },
    totp_secret: "JBSW Y3DP EHPK 3PXP",
  },
  CreateProxy: {
    type: "custom",
    name: "office",
    protocol: "http",
    bypass_hosts: ["*.corp.example"],
    config: { host: "proxy.corp.example", port: 3128, username: "browsers", password: "change-me" },
  },
  CreateTelemetryDestination: {
    name: "backend",
    endpoint: "https://otlp.example.com",
    headers: { Authorization: "Bearer change-me" },
  },
  CreateAuthConnection: { domain: "shop.example", profile_name: "alice", credential: { name: "shop" } },
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
    region: "us-east",
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
