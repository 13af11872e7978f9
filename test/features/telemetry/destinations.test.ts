/** Telemetry destinations over HTTP and as YAML. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { openDestination } from "../../../src/features/telemetry/destinations/destination-exporter.ts";
import {
  type TelemetryDestinationAnswer,
  telemetryDestinationKind,
} from "../../../src/features/telemetry/destinations/telemetry-destination.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";

const canary = "canary-0tlp-header";
const endpoint = "https://otlp.example.com/otlp";
let parts: VaultParts;
beforeAll(async () => {
  const settings = { BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS: "collector.monitoring, 10.1.0.0/16" };
  parts = await startVaultParts({ encrypted: true, settings });
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const place = (name: string) => ({ name, namespace: parts.namespace });
const stored = (id: string) => parts.kube.get(telemetryDestinationKind, place(id));
const secretOf = (id: string) => parts.kube.get(secrets, place(`telemetry-destination-${id}`));
const at = (idOrName: string): string => `/telemetry/destinations/${idOrName}`;

const created = async (body: object = {}): Promise<TelemetryDestinationAnswer> => {
  const answer = await parts.call("POST", "/telemetry/destinations", { name: fresh("d"), endpoint, ...body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};

/** The values as an exporter gets them. */
const opened = async (id: string): Promise<Record<string, string>> => {
  const destination = await stored(id);
  if (!destination) throw new Error("it is not there");
  const { headers } = await openDestination(destination, parts.services);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
};

// TELEMETRY-11, TELEMETRY-24
test("is created, read, listed, changed and deleted, and no header's value is seen anywhere", async () => {
  const name = fresh("Backend");
  const headers = { authorization: canary, "x-team": "blue" };
  const made = await created({ name, headers, description: "ours", timeout_seconds: 20 });
  const { id } = made;
  expect(made).toEqual({
    id,
    name,
    description: "ours",
    endpoint,
    headers: { Authorization: "", "X-Team": "" },
    compression: "gzip",
    timeout_seconds: 20,
    consecutive_failures: 0,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await parts.call("GET", at(id))).body).toEqual(made);
  expect((await parts.call("GET", at(name))).body).toEqual(made);
  const listed = async (query: string): Promise<string[]> =>
    (await parts.call("GET", `/telemetry/destinations?${query}`)).body.map((each: { id: string }) => each.id);
  expect(await listed(`name=${name.toLowerCase()}`)).toEqual([id]);
  expect(await listed(`query=${name.slice(1).toUpperCase()}`)).toEqual([id]);
  expect(await listed(`query=${id}`)).toEqual([id]);
  expect(await listed("name=none")).toEqual([]);
  expect(await opened(id)).toEqual({ Authorization: canary, "X-Team": "blue" });

  const change = { headers: { AUTHORIZATION: `${canary}-2`, "X-Team": null, "x-new": "1" }, description: "" };
  const changed = await parts.call("PATCH", at(name), { ...change, compression: "none", name: `${name}2` });
  expect(changed).toMatchObject({ status: 200, body: { name: `${name}2`, compression: "none", timeout_seconds: 20 } });
  expect(changed.body.headers).toEqual({ Authorization: "", "X-New": "" });
  expect(changed.body).not.toHaveProperty("description");
  expect(await opened(id)).toEqual({ Authorization: `${canary}-2`, "X-New": "1" });

  await parts.services.exportResults.failed((await stored(id))?.metadata.uid ?? "", "http_503");
  await parts.services.exportResults.failed((await stored(id))?.metadata.uid ?? "", "timeout");
  const failing = { consecutive_failures: 2, last_error: "timeout", last_error_at: expect.any(String) };
  expect((await parts.call("GET", at(id))).body).toMatchObject(failing);
  await parts.services.exportResults.sent((await stored(id))?.metadata.uid ?? "");
  const working = { ...failing, consecutive_failures: 0, last_export_at: expect.any(String) };
  expect((await parts.call("GET", at(id))).body).toMatchObject(working);

  for (const seen of [changed.body, await stored(id), await secretOf(id), await parts.logged()])
    expect(JSON.stringify(seen)).not.toContain(canary);
  expect(Buffer.from((await secretOf(id))?.data?.Authorization ?? "", "base64").toString()).toMatch(/^bp-sealed:v1:/);

  expect(await parts.call("DELETE", at(id))).toMatchObject({ status: 204 });
  await eventually("it is gone with its Secret", async () => !(await stored(id)) && !(await secretOf(id)));
  expect(await parts.call("GET", at(id))).toMatchObject({ status: 404 });
});

test("is of its project alone, and its name of one destination there", async () => {
  const { id, name } = await created();
  for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as const)
    expect(await parts.call(method, at(id), body, parts.other.projectId)).toMatchObject({ status: 404 });
  const again = await parts.call("POST", "/telemetry/destinations", { name, endpoint });
  expect(again).toMatchObject({ status: 409, body: { code: "name_taken" } });
  const other = await created();
  expect(await parts.call("PATCH", at(other.id), { name })).toMatchObject({
    status: 409,
    body: { code: "name_taken" },
  });
});

// TELEMETRY-22, TELEMETRY-25
describe("is refused with", () => {
  test.each<[string, object, string]>([
    ["a private address", { endpoint: "http://10.2.0.1:4318" }, "endpoint: telemetry is not sent there"],
    ["loopback", { endpoint: "http://127.0.0.1:4318" }, "endpoint: telemetry is not sent there"],
    ["loopback in another notation", { endpoint: "http://2130706433" }, "endpoint: telemetry is not sent there"],
    ["mapped loopback", { endpoint: "http://[::ffff:127.0.0.1]" }, "endpoint: telemetry is not sent there"],
    ["a metadata service", { endpoint: "http://169.254.169.254" }, "endpoint: telemetry is not sent there"],
    ["a metadata service's name", { endpoint: "http://metadata.google.internal" }, "endpoint: telemetry is not sent"],
    ["another scheme", { endpoint: "ftp://a.example" }, "endpoint"],
    ["a login", { endpoint: "https://a:b@a.example" }, "endpoint: must have no login"],
    ["a query", { endpoint: "https://a.example/?key=1" }, "endpoint: must have no query"],
    ["a signal's path", { endpoint: "https://a.example/v1/logs/" }, "endpoint: must be without the signal's path"],
    ["a header of the exporter's", { headers: { "Content-Type": "text/plain" } }, "headers: Content-Type is set by"],
    ["a header of the connection", { headers: { host: "b.example" } }, "headers: Host is set by"],
    ["a header twice", { headers: { "x-a": "1", "X-A": "2" } }, "headers: X-A is given twice"],
    ["a line break in a header", { headers: { a: "b\r\nc: d" } }, "headers"],
    ["no header's name", { headers: { "a b": "c" } }, "headers"],
    ["headers that are too large", { headers: { a: "x".repeat(5000), b: "x".repeat(5000) } }, "at most 8192 bytes"],
    ["an encrypted value", { headers: { a: "bp-sealed:v1:x" } }, "headers.A: begins like an encrypted value"],
    ["a name like an id", { name: "abcdefghijklmnopqrstuvwx" }, "name: must not have the form of an id"],
    ["too long a timeout", { timeout_seconds: 61 }, "timeout_seconds"],
  ])("%s", async (_, body, message) => {
    const answer = await parts.call("POST", "/telemetry/destinations", { name: fresh("no"), endpoint, ...body });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
  });

  test("none of these where the administrator allows the place", async () => {
    await created({ endpoint: "http://10.1.2.3:4318" });
    await created({ endpoint: "http://collector.monitoring:4318" });
  });

  test("a change to any of these, and nothing changes", async () => {
    const { id } = await created({ headers: { a: "1" } });
    for (const body of [
      { endpoint: "http://127.0.0.1" },
      { headers: { host: "x" } },
      { name: "abcdefghijklmnopqrstuvwx" },
    ])
      expect(await parts.call("PATCH", at(id), body)).toMatchObject({ status: 400 });
    expect(await opened(id)).toEqual({ A: "1" });
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`b${index}`, "1"]));
    expect(await parts.call("PATCH", at(id), { headers: many })).toMatchObject({ status: 400 });
  });

  // LIMIT-30
  test("fifty in the project already, also when many are asked for at once", async () => {
    const make = () =>
      parts.call("POST", "/telemetry/destinations", { name: fresh("many"), endpoint }, parts.other.projectId);
    const answers = [];
    for (let round = 0; round < 6; round++) answers.push(...(await Promise.all(Array.from({ length: 10 }, make))));
    const statuses = answers.map(({ status }) => status);
    expect([
      statuses.filter((status) => status === 201).length,
      statuses.filter((status) => status === 409).length,
    ]).toEqual([50, 10]);
  }, 60_000);
});

// TELEMETRY-24
describe("stored headers", () => {
  test("go to no other server, whoever changes the endpoint, until they are given again", async () => {
    const { id } = await created({ headers: { authorization: canary, "x-b": "2" } });
    const elsewhere = { endpoint: "https://evil.example" };
    const kept = {
      status: 400,
      body: { message: expect.stringContaining("is another server: give its headers again") },
    };
    expect(await parts.call("PATCH", at(id), elsewhere)).toMatchObject(kept);
    expect(await parts.call("PATCH", at(id), { ...elsewhere, headers: { "X-B": "3" } })).toMatchObject(kept);
    expect(await parts.call("PATCH", at(id), { endpoint: "http://otlp.example.com/otlp" })).toMatchObject(kept);
    expect(await parts.call("PATCH", at(id), { endpoint: "https://otlp.example.com/other" })).toMatchObject({
      status: 200,
    });
    expect(await opened(id)).toMatchObject({ Authorization: canary });

    // By YAML the endpoint can be written; then nothing is sent.
    await parts.kube.patch(telemetryDestinationKind, place(id), { spec: elsewhere });
    await expect(opened(id)).rejects.toThrow("its headers were given for another server");
    expect(await parts.call("PATCH", at(id), { description: "x" })).toMatchObject(kept);
    const anew = { headers: { authorization: "mine", "x-b": null } };
    expect(await parts.call("PATCH", at(id), anew)).toMatchObject({ status: 200 });
    expect(await opened(id)).toEqual({ Authorization: "mine" });
    expect(await parts.call("PATCH", at(id), { headers: { authorization: null } })).toMatchObject({ status: 200 });
    expect(await opened(id)).toEqual({});
  });

  test("of several changes at once are all there", async () => {
    const { id } = await created();
    const changes = Array.from({ length: 6 }, (_, index) => ({ headers: { [`h${index}`]: `${index}` } }));
    const answers = await Promise.all(changes.map((body) => parts.call("PATCH", at(id), body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(Object.keys(await opened(id)).sort()).toEqual(["H0", "H1", "H2", "H3", "H4", "H5"]);
  });

  test("by YAML come from a Secret that is meant for it, and from no other", async () => {
    const name = fresh("yaml").toLowerCase();
    const data = { Authorization: Buffer.from(`${canary}\n`).toString("base64") };
    const write = (secret: string, type: string) =>
      parts.kube.create(secrets, { metadata: place(`${name}-${secret}`), type, data });
    await write("meant", "browserpool.dev/telemetry-destination");
    await write("other", "Opaque");
    const spec = { endpoint, secretRef: { name: `${name}-meant` }, headerNames: ["Authorization"] };
    await parts.kube.create(telemetryDestinationKind, { metadata: place(name), spec: spec as never });
    expect(await opened(name)).toEqual({ Authorization: canary });
    const change = { headers: { a: "b" } };
    expect(await parts.call("PATCH", at(name), change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await parts.call("PATCH", at(name), { endpoint: "https://evil.example" })).toMatchObject({ status: 409 });
    await parts.kube.patch(telemetryDestinationKind, place(name), {
      spec: { headerNames: ["Authorization", "X-None"] },
    });
    await expect(opened(name)).rejects.toThrow("its Secret has no entry X-None");
    await parts.kube.patch(telemetryDestinationKind, place(name), { spec: { secretRef: { name: `${name}-other` } } });
    await expect(opened(name)).rejects.toThrow(`there is no Secret ${name}-other of the type browserpool.dev/`);
    expect(await parts.logged()).not.toContain(canary);
  });
});

// TELEMETRY-11
test("by YAML is accepted, or says why not", async () => {
  const condition = async (name: string): Promise<string | undefined> => {
    const [accepted] = (await stored(name))?.status?.conditions.filter(({ type }) => type === "Accepted") ?? [];
    return accepted && `${accepted.status} ${accepted.reason} ${accepted.message}`;
  };
  const [good, twin, bad] = [fresh("good"), fresh("twin"), fresh("bad")].map((name) => name.toLowerCase());
  const apply = (name = "", spec: object = {}) =>
    parts.kube.create(telemetryDestinationKind, { metadata: place(name), spec: { endpoint, ...spec } as never });
  await apply(good);
  await eventually("it is accepted", async () => (await condition(good ?? ""))?.startsWith("True"));
  await apply(twin, { name: good });
  await apply(bad, { endpoint: "http://127.0.0.1" });
  await eventually("the twin is refused", async () => (await condition(twin ?? ""))?.startsWith("False NameTaken"));
  await eventually("loopback is refused", async () =>
    (await condition(bad ?? ""))?.startsWith("False InvalidSpec spec.endpoint: telemetry is not sent there: loopback"),
  );
  await expect(apply(fresh("cel").toLowerCase(), { headerNames: ["A"] })).rejects.toThrow(
    "headerNames need a secretRef",
  );
});

// TELEMETRY-6, TELEMETRY-13, TELEMETRY-26
test("a pool's telemetry names a destination by id or by name, and none that is not there", async () => {
  const { id, name } = await created();
  const pool = (destination: object) =>
    parts.call("POST", "/browser_pools", {
      name: fresh("p"),
      size: 1,
      fill_rate_per_minute: 0,
      telemetry: { export: { otlp: { destination } } },
    });
  const missing = await pool({ id: "none" });
  expect(missing).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining("no telemetry destination with id") },
  });
  for (const destination of [{ id }, { name }]) {
    const made = await pool(destination);
    expect(made.body.browser_pool_config.telemetry.export.otlp).toEqual({
      enabled: true,
      destination: Object.values(destination)[0],
    });
    const inUse = { status: 409, body: { code: "conflict", message: expect.stringContaining("is in use by") } };
    expect(await parts.call("DELETE", at(id))).toMatchObject(inUse);
    const renamed = await parts.call("PATCH", at(id), { name: fresh("new") });
    if ("name" in destination) expect(renamed).toMatchObject(inUse);
    else expect(renamed).toMatchObject({ status: 200 });
    if ("id" in destination) await parts.call("PATCH", at(id), { name });
    await parts.kube.delete(browserPoolKind, place(made.body.id));
  }
});
