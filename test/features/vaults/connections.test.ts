import type Kernel from "@onkernel/sdk";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthConnection, authConnectionKind } from "../../../src/features/vaults/connections/auth-connection.ts";
import {
  beginVisit,
  collectLogin,
  type LoginPlace,
  type LoginVisit,
  readLoginForm,
} from "../../../src/features/vaults/connections/collect-login.ts";
import { newFlowId } from "../../../src/features/vaults/own-logins/flow-store.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { createCollectClaims } from "../../../src/platform/redis/collect-claims.ts";
import { eventually } from "../../support/eventually.ts";
import { connected, fresh, itemOf, startVaultParts, type VaultParts } from "./vault-parts.ts";

let parts: VaultParts;
let redis: Redis;
let connections: Kernel["auth"]["connections"];
beforeAll(async () => {
  parts = await startVaultParts();
  redis = new Redis(parts.redisUrl);
  connections = parts.client().auth.connections;
});
afterAll(async () => {
  redis?.disconnect();
  await parts?.[Symbol.asyncDispose]();
});

const create = (more: object = {}) =>
  connections.create({ domain: "shop.example", profile_name: fresh("profile"), ...more });

describe("a connection with the SDK", () => {
  // CONNECTION-1, CONNECTION-2, CONNECTION-5, CONNECTION-6, CONNECTION-7, CONNECTION-11
  test("is created, read, changed, listed and deleted", async () => {
    const profile = fresh("profile");
    const { name } = await connected(parts);
    const made = await connections.create({
      domain: "Shop.Example",
      profile_name: profile,
      credential: { name },
      health_checks: false,
      browser_telemetry: { enabled: false },
    });
    expect(made).toEqual({
      id: made.id,
      domain: "shop.example",
      profile_name: profile,
      status: "NEEDS_AUTH",
      save_credentials: true,
      credential: { name },
      health_checks: false,
      auto_reauth: true,
      record_session: false,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    // A single read says how a login without a person stands, too.
    const reauth = { can_reauth: false, can_reauth_reason: "no_viable_plans" };
    expect(await connections.retrieve(made.id)).toEqual({ ...made, ...reauth });
    const changed = await connections.update(made.id, {
      credential: { provider: "my-1p", path: "Vault/Item" },
      login_url: "",
      save_credentials: false,
      browser_telemetry: null,
    });
    expect(changed).toMatchObject({ credential: { provider: "my-1p", path: "Vault/Item" }, save_credentials: false });
    const found: string[] = [];
    for await (const { id } of connections.list({ profile_name: profile, domain: "SHOP.example" })) found.push(id);
    expect(found).toEqual([made.id]);
    expect((await connections.list({ profile_name: profile, domain: "else.test" })).items).toEqual([]);
    const searched = async (query: string) =>
      (await connections.list({ profile_name: profile, query })).items.map(({ id }) => id);
    for (const query of [made.id, "OP.exam", profile.slice(1).toUpperCase()])
      expect(await searched(query)).toEqual([made.id]);
    expect(await searched("nobody")).toEqual([]);
    await connections.delete(made.id);
    await expect(connections.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const ref = { namespace: parts.namespace, name: made.id };
    await eventually("it is gone", async () => !(await parts.kube.get(authConnectionKind, ref)));
  });

  // CONNECTION-9
  test("exists once for a profile and a domain", async () => {
    const profile_name = fresh("profile");
    const request = { domain: "shop.example", profile_name };
    const second = await parts.replica();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => (i % 2 ? second : parts.call)("POST", "/auth/connections", request)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    await connections.create({ ...request, domain: "other.example" });
    await parts.client(parts.other.projectId).auth.connections.create(request);
  });

  // CONNECTION-24
  test("creates its profile if there is none of the name, and uses one that exists", async () => {
    const profile_name = fresh("profile");
    const named = async () => (await parts.call("GET", `/profiles?name=${profile_name}`)).body;
    expect(await named()).toEqual([]);
    await connections.create({ domain: "shop.example", profile_name });
    const [profile, ...others] = await named();
    expect([profile.name, others]).toEqual([profile_name, []]);
    await connections.create({ domain: "other.example", profile_name });
    expect((await named()).map(({ id }: { id: string }) => id)).toEqual([profile.id]);
  });

  // CONNECTION-21
  test("refuses by name what nobody carries out, and stores nothing of it", async () => {
    const asked = { proxy: { id: "px" }, record_session: true };
    const paths = ["proxy", "record_session"];
    const refusal = {
      status: 400,
      body: {
        code: "not_supported_here",
        inner_error: { code: "not_supported_here" },
        details: paths.map((path) => ({ code: "not_supported_here", path, message: expect.stringContaining(path) })),
      },
    };
    const profile_name = fresh("profile");
    const request = { domain: "shop.example", profile_name };
    expect(await parts.call("POST", "/auth/connections", { ...request, ...asked })).toMatchObject(refusal);
    expect((await connections.list({ profile_name })).items).toEqual([]);
    const made = await connections.create(request);
    expect(await parts.call("PATCH", `/auth/connections/${made.id}`, asked)).toMatchObject(refusal);
    expect(await connections.retrieve(made.id)).toMatchObject(made);
    const path = `/auth/connections/${made.id}/login`;
    const login = await parts.call("POST", path, { record_session: true, browser_telemetry: { enabled: true } });
    expect(login).toMatchObject({ status: 400, body: { code: "not_supported_here" } });
    expect(login.body.details.map((detail: { path: string }) => detail.path)).toEqual([
      "record_session",
      "browser_telemetry",
    ]);
    expect((await connections.login(made.id, { record_session: false })).hosted_url).toContain(made.id);
  });

  // CONNECTION-3, CONNECTION-4
  test.each<[object, string]>([
    [{ domain: undefined }, "domain"],
    [{ domain: "https://a.test/" }, "domain"],
    [{ domain: "shop..example" }, "domain"],
    [{ domain: "shop.-example" }, "domain"],
    [{ profile_name: "a b" }, "profile_name"],
    [{ credential: {} }, "credential"],
    [{ credential: { name: "nobody" } }, "credential.name"],
    [{ credential: { provider: "p" } }, "credential"],
    [{ proxy: {} }, "proxy"],
    [{ health_check_interval: 10 }, "health_check_interval"],
    [{ login_url: "https://else.example/in" }, "login_url"],
    [{ login_url: "javascript:alert(1)" }, "login_url"],
    [{ login_url: "https://a:b@shop.example/in" }, "login_url"],
    [{ allowed_domains: ["a b"] }, "allowed_domains[0]"],
    [{ health_checks: true, credential: {} }, "credential"],
    [{ save_credentials: "yes" }, "save_credentials"],
    [{ browser_telemetry: { enabled: false, browser: { page: {} } } }, "browser_telemetry.browser"],
  ])("is refused with %j", async (more, path) => {
    const body = { domain: "shop.example", profile_name: fresh("profile"), ...more };
    const answer = await parts.call("POST", "/auth/connections", body);
    expect(answer).toMatchObject({ status: 400, body: { code: "bad_request", details: [{ path }] } });
  });

  // CONNECTION-10
  test("can't be reached from another project", async () => {
    const { id } = await create();
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/login"],
    ] as const)
      expect(
        await parts.call(
          method,
          `/auth/connections/${id}${path}`,
          method === "GET" ? undefined : {},
          parts.other.projectId,
        ),
      ).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect((await connections.retrieve(id)).id).toBe(id);
  });

  // CONNECTION-20
  test("without a login_url has no login of the service to follow or to give values to", async () => {
    const { id } = await create();
    await connections.login(id);
    await expect(connections.submit(id, { fields: { a: "b" } })).rejects.toMatchObject({ status: 409 });
    await expect(connections.follow(id)).rejects.toMatchObject({ status: 409 });
    expect((await connections.timeline(id)).items).toEqual([]);
    expect(await connections.retrieve(id)).not.toHaveProperty("flow_status");
  });

  // LOGIN-17
  test("whose login belongs to a dead replica and is late is let go of by another one", async () => {
    const { id } = await create({ login_url: "https://shop.example/in" });
    const { metadata } = (await parts.kube.get(authConnectionKind, {
      namespace: parts.namespace,
      name: id,
    })) as AuthConnection;
    const { flows } = parts.services.ownLogins;
    const startedMs = Date.now() - 700_000;
    const flow = {
      id: newFlowId(startedMs),
      ...({ type: "LOGIN", status: "IN_PROGRESS", step: "SUBMITTING", driver: "dead", isOpen: true } as const),
      ...{ startedMs, updatedMs: startedMs, expiresMs: startedMs + 600_000, session: "gone" },
      ...{ projectId: parts.projectId, connectionId: id, fields: [], choices: [], typed: [], rejected: [] },
    };
    await flows.write(metadata.uid, 0, flow);
    await createCollectClaims(redis, "dead", "logins").offer({ session: flow.id, poolUid: metadata.uid });
    const ended = await eventually("the login is over", async () => {
      const { flow_status: status } = (await parts.call("GET", `/auth/connections/${id}`)).body;
      return status !== "IN_PROGRESS" && status;
    });
    expect(["EXPIRED", "FAILED"]).toContain(ended);
  });
});

type Link = LoginPlace & { code: string };

describe("a login by a person", () => {
  const start = async (more: object = {}) => {
    const { id } = await create(more);
    const login = await connections.login(id);
    const link: Link = { projectId: parts.projectId, connectionId: id, code: login.handoff_code ?? "" };
    return { id, login, link };
  };
  const visit = async ({ code, ...place }: Link): Promise<LoginVisit> => ({
    ...place,
    ticket: await beginVisit({ ...place, code }, parts.services),
  });
  const isGood = (link: Link): Promise<boolean> =>
    visit(link).then(
      () => true,
      () => false,
    );
  const secretOf = (id: string) => parts.kube.get(secrets, { namespace: parts.namespace, name: `login-${id}` });

  // CONNECTION-12, CONNECTION-17
  test("begins with a page and a code, which is behind the # and stored only as a hash", async () => {
    const { id, login, link } = await start();
    expect(login).toMatchObject({ id, flow_type: "LOGIN" });
    const code = login.handoff_code ?? "";
    expect(Buffer.from(code, "base64url")).toHaveLength(54);
    const url = new URL(login.hosted_url);
    expect([url.pathname, url.search, url.hash]).toEqual([`/login/${parts.projectId}/${id}`, "", `#${code}`]);
    const minutes = (Date.parse(login.flow_expires_at) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(9);
    expect(minutes).toBeLessThanOrEqual(10);
    const stored = Object.values((await secretOf(id))?.data ?? {}).map((text) =>
      Buffer.from(text, "base64").toString(),
    );
    expect(stored.join("\n")).not.toContain(code);
    expect(await parts.logged()).not.toContain(code);
    expect(await isGood(link)).toBe(true);
  });

  // CONNECTION-11, CONNECTION-13, CONNECTION-16, CONNECTION-17
  test("saves the typed values as the connection's credential, once", async () => {
    const { id, link } = await start();
    const begun = await visit(link);
    expect(await readLoginForm(begun, parts.services)).toMatchObject({
      domain: "shop.example",
      fields: ["username", "password"],
    });
    await collectLogin(begun, { email: "a@b.test", password: "typed-canary" }, parts.services);
    const connection = await connections.retrieve(id);
    expect(connection.status).toBe("AUTHENTICATED");
    const credential = await parts.client().credentials.retrieve(connection.credential?.name ?? "");
    expect(credential).toMatchObject({
      domain: "shop.example",
      value_keys: ["email", "password"],
      has_totp_secret: false,
    });
    expect(await isGood(link)).toBe(false);
    await expect(collectLogin(begun, { email: "x" }, parts.services)).rejects.toMatchObject({ code: "forbidden" });

    const { body } = await parts.call("POST", "/vaults", { name: fresh("vault") });
    const item = await parts.call("PUT", `/vaults/${body.id}/items/shop`, itemOf(id));
    expect(item.body.state).toMatchObject({ status: "ready", fields: { email: { type: "email" } } });
  });

  // CONNECTION-14
  test("changes the same credential when it is repeated", async () => {
    const { id, link } = await start();
    await collectLogin(await visit(link), { user: "a", pin: "1" }, parts.services);
    const { credential } = await connections.retrieve(id);
    const { handoff_code: code = "" } = await connections.login(id);
    const again = await visit({ ...link, code });
    expect((await readLoginForm(again, parts.services)).fields.sort()).toEqual(["pin", "user"]);
    await collectLogin(again, { user: "b" }, parts.services);
    expect((await connections.retrieve(id)).credential).toEqual(credential);
    expect((await parts.client().credentials.retrieve(credential?.name ?? "")).value_keys).toEqual(["pin", "user"]);
  });

  // CONNECTION-11, CONNECTION-15
  test("is not saved when the connection says so, or when another provider keeps the credential", async () => {
    for (const more of [{ save_credentials: false }, { credential: { provider: "p", auto: true } }]) {
      const { id, link } = await start(more);
      await collectLogin(await visit(link), { user: "a" }, parts.services);
      const connection = await connections.retrieve(id);
      expect(connection.status).toBe("AUTHENTICATED");
      expect(connection.credential?.name).toBeUndefined();
    }
  });

  // CONNECTION-17
  test("has one code at a time: a new code voids the old one", async () => {
    const { id, link } = await start();
    const begun = await visit(link);
    const { handoff_code: code = "" } = await connections.login(id);
    await expect(readLoginForm(begun, parts.services)).rejects.toMatchObject({ code: "forbidden" });
    expect(await isGood(link)).toBe(false);
    expect(await isGood({ ...link, code })).toBe(true);
  });

  test("is accepted once, however many submit it at the same time", async () => {
    const { link } = await start();
    const begun = await visit(link);
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => collectLogin(begun, { user: "a" }, parts.services)),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  // CONNECTION-18
  test("is refused with the same answer, whatever is wrong with it", async () => {
    const { id, link } = await start();
    const other = await start();
    const expired = await start();
    const past = Buffer.from(String(Date.now() - 1)).toString("base64");
    const ref = { namespace: parts.namespace, name: `login-${expired.id}` };
    await parts.kube.patch(secrets, ref, { data: { "expires-at": past } });
    const wrong: Link[] = [
      { ...link, code: "" },
      { ...link, code: other.link.code },
      { ...link, connectionId: other.id },
      { ...link, connectionId: "nothing" },
      { ...link, projectId: parts.other.projectId },
      { ...link, projectId: "nothing" },
      expired.link,
    ];
    const messages = new Set<string>();
    for (const each of wrong)
      for (const attempt of [
        () => beginVisit(each, parts.services),
        // A code does not work as a ticket.
        () => readLoginForm({ ...each, ticket: each.code }, parts.services),
        () => collectLogin({ ...each, ticket: each.code }, { user: "a" }, parts.services),
      ])
        messages.add(
          await attempt().then(String, (error: { code: string; message: string }) => `${error.code} ${error.message}`),
        );
    expect([...messages]).toEqual([expect.stringMatching(/^forbidden /)]);
    expect((await connections.retrieve(id)).status).toBe("NEEDS_AUTH");
    expect(await isGood(link)).toBe(true);
  });

  test("leaves no code behind when the connection is deleted", async () => {
    const { id } = await start();
    expect(await secretOf(id)).toBeDefined();
    await connections.delete(id);
    await eventually("its Secret is gone", async () => !(await secretOf(id)));
  });
});
