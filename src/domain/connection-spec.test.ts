import { describe, expect, test } from "vitest";
import { CreateConnection, UpdateConnection } from "../resources/auth-connection-wire.ts";
import { newConnectionSpec, patchConnectionSpec } from "./connection-spec.ts";

const base = { domain: "Shop.Example", profile_name: "alice" };
const create = (more: object) => newConnectionSpec(CreateConnection.parse({ ...base, ...more }));
const defaults = {
  domain: "shop.example",
  profileName: "alice",
  saveCredentials: true,
  healthChecks: true,
  healthCheckInterval: 3600,
  autoReauth: true,
  recordSession: false,
};
const specOf = (more: object) => {
  const result = create(more);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.spec;
};

describe("a new connection", () => {
  // CONNECTION-2
  test("has the defaults, and its domain in lower case", () => expect(specOf({})).toEqual(defaults));

  test("keeps every setting", () =>
    expect(
      specOf({
        save_credentials: false,
        credential: { provider: "vault", auto: true },
        allowed_domains: ["id.example"],
        login_url: "https://shop.example/in",
        health_checks: false,
        health_check_interval: 300,
        auto_reauth: false,
        proxy: { name: "px" },
        record_session: true,
        browser_telemetry: { browser: { page: { enabled: true } } },
      }),
    ).toEqual({
      ...defaults,
      saveCredentials: false,
      credential: { provider: "vault", auto: true },
      allowedDomains: ["id.example"],
      loginUrl: "https://shop.example/in",
      healthChecks: false,
      healthCheckInterval: 300,
      autoReauth: false,
      proxy: { name: "px" },
      recordSession: true,
      browserTelemetry: { browser: { page: { enabled: true } } },
    }));

  // CONNECTION-3
  test.each<[object, string]>([
    [{ credential: {} }, "credential"],
    [{ credential: { name: "a", provider: "p" } }, "credential"],
    [{ credential: { name: "a", auto: false } }, "credential"],
    [{ credential: { provider: "p" } }, "credential"],
    [{ credential: { provider: "p", auto: false } }, "credential"],
    [{ credential: { path: "a" } }, "credential"],
    [{ credential: { provider: "p", path: "a", auto: true } }, "credential"],
    [{ proxy: {} }, "proxy"],
    [{ proxy: { id: "a", name: "b" } }, "proxy"],
    [{ browser_telemetry: { enabled: false, browser: { page: {} } } }, "browser_telemetry.browser"],
  ])("is refused with %j", (more, path) => expect(create(more)).toMatchObject({ ok: false, problems: [{ path }] }));
});

describe("a change", () => {
  const spec = specOf({ credential: { name: "a" }, login_url: "https://a.test", browser_telemetry: { enabled: true } });
  const change = (patch: object) => patchConnectionSpec(spec, UpdateConnection.parse(patch));

  test("leaves what it does not name", () => {
    expect(change({})).toEqual({ ok: true, spec });
    expect(change({ auto_reauth: false })).toEqual({ ok: true, spec: { ...spec, autoReauth: false } });
  });

  test("replaces a credential as a whole", () =>
    expect(change({ credential: { provider: "p", path: "x" } })).toMatchObject({
      spec: { credential: { provider: "p", path: "x" } },
    }));

  test("clears the login URL by an empty string, and telemetry by null", () => {
    const { loginUrl, browserTelemetry, ...rest } = spec;
    expect(change({ login_url: "", browser_telemetry: null })).toEqual({ ok: true, spec: rest });
  });

  test("is refused as a creation is", () => expect(change({ credential: {} })).toMatchObject({ ok: false }));
});
