import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { totpCode } from "../../../src/features/vaults/logins/rules/totp.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { connected, fresh, startVaultParts, type VaultParts } from "./vault-parts.ts";

const seed = "JBSWY3DPEHPK3PXP";

let parts: VaultParts;
beforeAll(async () => {
  parts = await startVaultParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const secretOf = (id: string) => parts.kube.get(secrets, { namespace: parts.namespace, name: `credential-${id}` });
const entriesOf = async (id: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((await secretOf(id))?.data ?? {}).map(([entry, text]) => [
      entry,
      Buffer.from(text, "base64").toString(),
    ]),
  );

describe("a credential with the SDK", () => {
  // CREDENTIAL-1, CREDENTIAL-2, CREDENTIAL-3, CREDENTIAL-4, CREDENTIAL-5, CREDENTIAL-6, CREDENTIAL-8, CREDENTIAL-14
  test("is stored, read, changed, listed and deleted, and never shows a value", async () => {
    const { credentials } = parts.client();
    const name = fresh("cred");
    const made = await credentials.create({
      name,
      domain: "Shop.Example",
      values: { username: "alice", password: "canary-1", pin: "" },
      sso_provider: "google",
    });
    expect(made).toEqual({
      id: made.id,
      name,
      domain: "shop.example",
      has_values: true,
      has_totp_secret: false,
      value_keys: ["password", "pin", "username"],
      sso_provider: "google",
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
    });
    expect(made.id).toMatch(/^[a-z][a-z0-9]{23}$/);
    expect(await credentials.retrieve(made.id)).toEqual(made);
    expect(await credentials.retrieve(name)).toEqual(made);

    const renamed = fresh("cred");
    const changed = await credentials.update(name, {
      name: renamed,
      remove_value_keys: ["pin", "username"],
      values: { username: "bob" },
      sso_provider: "",
    });
    expect(changed).toMatchObject({
      id: made.id,
      name: renamed,
      value_keys: ["password", "username"],
      sso_provider: null,
    });
    expect(Date.parse(changed.updated_at)).toBeGreaterThanOrEqual(Date.parse(made.created_at));
    expect(await entriesOf(made.id)).toEqual({ username: "bob", password: "canary-1" });

    const { value_keys, ...listed } = changed;
    const found: object[] = [];
    for await (const one of credentials.list({ query: renamed.toUpperCase() })) found.push(one);
    expect(found).toEqual([listed]);
    await credentials.delete(renamed);
    await expect(credentials.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await eventually("its Secret is gone", async () => !(await secretOf(made.id)));
    await eventually(
      "it is gone",
      async () => !(await parts.kube.get(credentialKind, { namespace: parts.namespace, name: made.id })),
    );
  });

  // CREDENTIAL-4, CREDENTIAL-7, CREDENTIAL-9, CREDENTIAL-10, CREDENTIAL-11
  test("has a TOTP secret that makes codes and is never shown", async () => {
    const { credentials } = parts.client();
    const made = await credentials.create({
      name: fresh("totp"),
      domain: "a.test",
      values: {},
      totp_secret: "jbsw y3dp-ehpk 3pxp",
    });
    expect(made).toMatchObject({ has_values: false, has_totp_secret: true, value_keys: [] });
    expect(await entriesOf(made.id)).toEqual({ totp_secret: seed });
    const { code, expires_at } = await credentials.totpCode(made.id);
    const expiresMs = Date.parse(expires_at);
    expect(code).toBe(totpCode(seed, expiresMs - 1)?.code);
    expect(made.totp_code).toMatch(/^\d{6}$/);
    expect(made.totp_code).toBe(totpCode(seed, Date.parse(made.totp_code_expires_at ?? "") - 1)?.code);

    expect((await credentials.retrieve(made.id)).totp_code).toBeUndefined();
    const kept = await credentials.update(made.id, { values: { a: "b" } });
    expect(kept).toMatchObject({ has_totp_secret: true, has_values: true });
    expect(kept.totp_code).toBeUndefined();
    expect(await credentials.update(made.id, { totp_secret: "" })).toMatchObject({ has_totp_secret: false });
    await expect(credentials.totpCode(made.id)).rejects.toMatchObject({ status: 404 });
  });

  test("may have values of any name, also one named totp_secret, which is not its TOTP secret", async () => {
    const { credentials } = parts.client();
    const values = { "login[password]": "a", "Kunden Nr.": "b", totp_secret: "c", "x-y": "d" };
    const made = await credentials.create({ name: fresh("odd"), domain: "a.test", values });
    expect(made).toMatchObject({ has_totp_secret: false, has_values: true });
    expect(made.value_keys?.toSorted()).toEqual(Object.keys(values).toSorted());
    await expect(credentials.totpCode(made.id)).rejects.toMatchObject({ status: 404 });
  });

  // CREDENTIAL-6
  test("is listed in pages, also by domain", async () => {
    const { credentials } = parts.client(parts.other.projectId);
    const names = [fresh("p"), fresh("p"), fresh("p")];
    for (const name of names) await credentials.create({ name, domain: "pages.test", values: {} });
    await credentials.create({ name: fresh("p"), domain: "else.test", values: {} });
    const found: string[] = [];
    for await (const { name } of credentials.list({ domain: "pages.test", limit: 2 })) found.push(name);
    expect(found.toSorted()).toEqual(names.toSorted());
    const page = await parts.call("GET", "/credentials?limit=3&offset=1", undefined, parts.other.projectId);
    expect(page.body).toHaveLength(3);
    expect(page.headers.get("x-has-more")).toBe("false");
  });
});

describe("a refused request names the field and not its content", () => {
  const good = { name: "n", domain: "a.test", values: {} };
  // CREDENTIAL-9, CREDENTIAL-16
  test.each<[object, string]>([
    [{ ...good, name: "a b" }, "name"],
    [{ ...good, domain: "https://canary.test" }, "domain"],
    [{ name: "n", domain: "a.test" }, "values"],
    [{ ...good, values: { password: 17 } }, "values.password"],
    [{ ...good, values: { password: { deep: "canary" } } }, "values.password"],
    [{ ...good, values: { password: `canary${"x".repeat(5000)}` } }, "values.password"],
    [{ ...good, values: { ["n".repeat(129)]: "canary" } }, `values.${"n".repeat(129)}`],
    [{ ...good, values: { password: "bp-sealed:v1:canary" } }, "values.password"],
    [{ ...good, values: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`v${i}`, "canary"])) }, "values"],
    [{ ...good, values: "canary" }, "values"],
    [{ ...good, totp_secret: "canary!" }, "totp_secret"],
    [{ ...good, totp_secret: 7 }, "totp_secret"],
  ])("%#", async (body, path) => {
    const { status, body: error } = await parts.call("POST", "/credentials", body);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: "bad_request", inner_error: { code: "invalid_input" } });
    expect(error.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(JSON.stringify(error)).not.toContain("canary");
  });

  // CREDENTIAL-16
  test("a body that is not JSON is neither quoted nor logged", async () => {
    const { status, body } = await parts.call("POST", "/credentials", '{"values": {"password": "canary-broken"');
    expect(status).toBe(400);
    expect(JSON.stringify(body)).not.toContain("canary-broken");
    expect(await parts.logged()).not.toContain("canary-broken");
  });

  test("a refused credential leaves nothing behind", async () => {
    const name = fresh("bad");
    await parts.call("POST", "/credentials", { ...good, name, totp_secret: "1" });
    expect((await parts.call("GET", `/credentials/${name}`)).status).toBe(404);
  });

  // CREDENTIAL-12
  test("a taken name is a conflict, also in a change of name", async () => {
    const { credentials } = parts.client();
    const [a, b] = [fresh("a"), fresh("b")];
    for (const name of [a, b]) await credentials.create({ ...good, name });
    await expect(credentials.create({ ...good, name: a })).rejects.toMatchObject({
      status: 409,
      error: { code: "name_taken" },
    });
    await expect(credentials.update(b, { name: a })).rejects.toMatchObject({
      status: 409,
      error: { code: "name_taken" },
    });
    expect(await credentials.update(b, { name: b })).toMatchObject({ name: b });
    await parts.client(parts.other.projectId).credentials.create({ ...good, name: a });
  });

  // CREDENTIAL-6, CREDENTIAL-12
  test("of many creations with one name at once, one succeeds", async () => {
    const name = fresh("race");
    const second = await parts.replica();
    const body = { ...good, name };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? second : parts.call)("POST", "/credentials", body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect((await parts.call("GET", `/credentials?name=${name}`)).body).toHaveLength(1);
  });

  // CREDENTIAL-15
  test.each(["GET", "PATCH", "DELETE"])(
    "%s of a credential that does not exist, or in another project, is 404",
    async (method) => {
      const { credential } = await connected(parts);
      const body = method === "PATCH" ? {} : undefined;
      for (const [id, project] of [
        ["nothing", undefined],
        [credential, parts.other.projectId],
      ] as const)
        expect(await parts.call(method, `/credentials/${id}`, body, project)).toMatchObject({
          status: 404,
          body: { code: "not_found" },
        });
    },
  );
});

describe("the Secret of a credential", () => {
  test("has the credential as its owner", async () => {
    const { credential } = await connected(parts);
    const { metadata } = (await parts.kube.get(credentialKind, { namespace: parts.namespace, name: credential })) ?? {};
    expect((await secretOf(credential))?.metadata.ownerReferences).toMatchObject([
      { kind: "Credential", name: credential, uid: metadata?.uid },
    ]);
  });

  test("shows no values after a deletion by hand, until values are stored again", async () => {
    const { credential } = await connected(parts);
    await parts.kube.delete(secrets, { namespace: parts.namespace, name: `credential-${credential}` });
    const { credentials } = parts.client();
    expect(await credentials.retrieve(credential)).toMatchObject({ has_values: false, value_keys: [] });
    expect(await credentials.update(credential, { values: { user: "x" } })).toMatchObject({ value_keys: ["user"] });
    expect(await entriesOf(credential)).toEqual({ user: "x" });
  });

  test("keeps all of many concurrent changes, and the spec names what it holds", async () => {
    const { credential } = await connected(parts, {});
    const names = Array.from({ length: 8 }, (_, i) => `v${i}`);
    const second = await parts.replica();
    const answers = await Promise.all(
      names.map((name, i) =>
        (i % 2 ? second : parts.call)("PATCH", `/credentials/${credential}`, { values: { [name]: "x" } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(Object.keys(await entriesOf(credential)).sort()).toEqual(names);
    const stored = await parts.kube.get(credentialKind, { namespace: parts.namespace, name: credential });
    expect((stored as unknown as { spec: { valueKeys: string[] } }).spec.valueKeys.toSorted()).toEqual(names);
  });
});
