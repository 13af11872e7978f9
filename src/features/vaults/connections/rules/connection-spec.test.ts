import { describe, expect, test } from "vitest";
import { telemetryCategories } from "../../../../core/model/settings/telemetry.ts";
import { CreateConnection, UpdateConnection } from "../auth-connection.ts";
import { newConnectionSpec, patchConnectionSpec } from "./connection-spec.ts";

const base = { domain: "Shop.Example", profile_name: "alice" };
const create = (more: object) => newConnectionSpec(CreateConnection.parse({ ...base, ...more }));
const defaults = {
  domain: "shop.example",
  profileName: "alice",
  saveCredentials: true,
  healthChecks: false,
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

  test("keeps every setting that is carried out", () =>
    expect(specOf({ save_credentials: false, credential: { provider: "vault", auto: true } })).toEqual({
      ...defaults,
      saveCredentials: false,
      credential: { provider: "vault", auto: true },
    }));

  // CONNECTION-20
  test("may begin its login at a page below its domain, or at one of the further domains", () => {
    for (const more of [
      { login_url: "https://accounts.shop.example/in?next=/" },
      { login_url: "https://id.example/in", allowed_domains: ["*.id.example"] },
    ])
      expect(create(more)).toMatchObject({ ok: true, spec: { loginUrl: more.login_url } });
  });

  // CONNECTION-21
  test("accepts values that ask for what happens anyway", () => {
    const everyOff = Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: false }]));
    for (const browser_telemetry of [null, {}, { enabled: false }, { browser: {} }, { browser: everyOff }])
      expect(create({ browser_telemetry })).toMatchObject({ ok: true });
    expect(create({ allowed_domains: [], health_checks: false, record_session: false })).toMatchObject({ ok: true });
  });

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
    [{ login_url: "https://else.example/in" }, "login_url"],
    [{ login_url: "https://[" }, "login_url"],
    [{ login_url: "https://ann:p@shop.example/" }, "login_url"],
    [{ allowed_domains: ["shop.example", "no host"] }, "allowed_domains[1]"],
    [{ proxy: { id: "a", name: "b" } }, "proxy"],
    [{ browser_telemetry: { enabled: false, browser: { page: {} } } }, "browser_telemetry.browser"],
  ])("is refused with %j", (more, path) => expect(create(more)).toMatchObject({ ok: false, problems: [{ path }] }));
});

// CONNECTION-20, on creation and by a change
test.each(["file:///etc/passwd", "shop.example/in"])("a login begins at no %j", (login_url) => {
  expect(CreateConnection.safeParse({ ...base, login_url })).toMatchObject({ success: false });
  expect(UpdateConnection.safeParse({ login_url })).toMatchObject({ success: false });
});

// CONNECTION-21, HTTP-30
test.each<[object, string]>([
  [{ proxy: { name: "px" } }, "proxy"],
  [{ record_session: true }, "record_session"],
  [{ browser_telemetry: { enabled: true } }, "browser_telemetry"],
  [{ browser_telemetry: { browser: { page: { enabled: true } } } }, "browser_telemetry"],
])("%j is not supported, on creation and by a change", (more, path) => {
  const refusal = { ok: false, kind: "unsupported", problems: [{ path, message: expect.stringContaining("here") }] };
  expect(create(more)).toEqual(refusal);
  expect(patchConnectionSpec(specOf({}), UpdateConnection.parse(more))).toEqual(refusal);
});

describe("a change", () => {
  const spec = { ...specOf({ credential: { name: "a" } }), loginUrl: "https://in.shop.example", healthChecks: true };
  const change = (patch: object) => patchConnectionSpec(spec, UpdateConnection.parse(patch));

  test("leaves what it does not name, also what is there by YAML and not supported", () => {
    expect(change({})).toEqual({ ok: true, spec });
    expect(change({ save_credentials: false })).toEqual({ ok: true, spec: { ...spec, saveCredentials: false } });
  });

  test("replaces a credential as a whole", () =>
    expect(change({ credential: { provider: "p", path: "x" } })).toMatchObject({
      spec: { credential: { provider: "p", path: "x" } },
    }));

  test("clears the login URL by an empty string, and telemetry by null", () => {
    const { loginUrl, ...rest } = spec;
    const captured = { ...spec, browserTelemetry: { enabled: true } };
    const patch = UpdateConnection.parse({ login_url: "", browser_telemetry: null });
    expect(patchConnectionSpec(captured, patch)).toEqual({ ok: true, spec: rest });
  });

  test("is refused as a creation is", () =>
    expect(change({ credential: {} })).toMatchObject({ ok: false, kind: "invalid" }));
});
