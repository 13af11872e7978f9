/** The vault's kinds with kubectl: the statuses that the operator writes, and what it cleans up. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { fetchItem } from "../../../src/features/vaults/items/items.ts";
import { openItem } from "../../../src/features/vaults/items/open-item.ts";
import { vaultItemKind } from "../../../src/features/vaults/items/vault-item.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { openShell, type Shell } from "./kubectl.ts";
import { connected, fresh, itemOf, startVaultParts, type VaultParts } from "./vault-parts.ts";

const sample = join(import.meta.dirname, "..", "..", "..", "manifests", "samples", "vault.yaml");

let parts: VaultParts;
let shell: Shell;
beforeAll(async () => {
  parts = await startVaultParts();
  shell = await openShell(parts.namespace);
});
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]();
  await shell?.[Symbol.asyncDispose]();
});

const kubectl = (args: string, input?: string): Promise<string> => shell.kubectl(args.split(" "), input);

const yamlOf = (kind: string, name: string, spec: object): string =>
  stringify({ apiVersion: "browserpool.dev/v1alpha1", kind, metadata: { name }, spec });

const apply = (kind: string, name: string, spec: object): Promise<string> =>
  kubectl("apply -f -", yamlOf(kind, name, spec));

const secretYaml = (name: string, stringData: Record<string, string>, type = "Opaque"): string =>
  stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, type, stringData });

const waitFor = (object: string, condition: string): Promise<string> =>
  kubectl(`wait --timeout=30s --for=${condition} ${object}`);

const conditionOf = (object: string, type: string): Promise<string> =>
  kubectl(
    `get ${object} -o jsonpath={.status.conditions[?(@.type=="${type}")].status}/{.status.conditions[?(@.type=="${type}")].reason}`,
  );

const untilCondition = (object: string, type: string, wanted: string): Promise<unknown> =>
  eventually(`${object} is ${type}=${wanted}`, async () => (await conditionOf(object, type)) === wanted);

const columns = async (object: string): Promise<Record<string, string>> => {
  const [head = "", line = ""] = (await kubectl(`get ${object}`)).split("\n");
  const values = line.trim().split(/\s{2,}/);
  return Object.fromEntries(
    head
      .trim()
      .split(/\s{2,}/)
      .map((column, i) => [column, values[i] ?? ""]),
  );
};

/** Makes a Secret, a credential, a connection and a vault with an item, all of one name. */
const stack = async (name: string, more: { valueKeys?: string[]; totp?: boolean } = {}): Promise<void> => {
  await kubectl(
    "apply -f -",
    secretYaml(name, { username: "alice", password: "p", other: "o", totp_secret: "JBSWY3DPEHPK3PXP" }),
  );
  await apply("Credential", name, { domain: "shop.example", secretRef: { name }, valueKeys: ["username"], ...more });
  await apply("AuthConnection", name, { domain: "shop.example", profileName: name, credential: { name } });
  await apply("Vault", name, {});
  await apply("VaultItem", name, { vault: name, key: "shop", connectionId: name });
};

describe("kubectl", () => {
  // ITEM-16
  test("applies the sample and shows its item as ready; HTTP agrees", async () => {
    await kubectl(`apply -f ${sample}`);
    for (const object of ["cred/shop", "ac/shop-alice", "vlt/team", "vi/team-shop"])
      await waitFor(object, "condition=Ready");
    expect(await columns("vi team-shop")).toMatchObject({
      NAME: "team-shop",
      VAULT: "team",
      KEY: "shop",
      PROVIDER: "managed_auth",
      STATUS: "ready",
      REASON: "Ready",
    });
    expect(await columns("ac shop-alice")).toMatchObject({
      DOMAIN: "shop.example",
      PROFILE: "alice",
      STATUS: "NEEDS_AUTH",
    });
    const all = await kubectl("get browserpool-all -o name");
    for (const kind of ["vault", "vaultitem", "credential", "authconnection"])
      expect(all).toContain(`${kind}.browserpool.dev/`);

    const { body } = await parts.call("GET", "/vaults/team/items/shop");
    expect(body).toMatchObject({
      id: "team-shop",
      spec: { connection_id: "shop-alice", allowed_origins: ["https://shop.example"] },
      state: { status: "ready", fields: { username: { type: "text" }, password: { type: "password" } } },
    });
    expect((await parts.call("GET", "/credentials/shop")).body).toMatchObject({
      id: "shop",
      name: "shop",
      value_keys: ["password", "username"],
    });
    // The vault takes its item along, which may be gone when its turn comes.
    await kubectl(`delete -f ${sample} --ignore-not-found --timeout=30s`);
    expect((await kubectl("get vlt,vi,cred,ac -o name")).trim()).toBe("");
  });

  test("shows that an item changes with its credential and its connection", async () => {
    const name = fresh("item");
    await stack(name);
    const item = `vi/${name}`;
    await untilCondition(item, "Ready", "True/Ready");
    await kubectl(`patch cred ${name} --type=merge -p {"spec":{"valueKeys":[]}}`);
    await untilCondition(item, "Ready", "False/NoCredential");
    await kubectl(`patch cred ${name} --type=merge -p {"spec":{"totp":true}}`);
    await untilCondition(item, "Ready", "True/Ready");
    await kubectl(`delete cred ${name} --timeout=30s`);
    await untilCondition(item, "Ready", "False/NoCredential");
    await untilCondition(`ac/${name}`, "Ready", "False/CredentialNotFound");
    await kubectl(`patch ac ${name} --type=merge -p {"spec":{"credential":{"name":null,"provider":"p","auto":true}}}`);
    await untilCondition(item, "Ready", "False/ExternalCredential");
    await kubectl(`delete ac ${name} --timeout=30s`);
    await untilCondition(item, "Ready", "False/ConnectionNotFound");
    expect(await columns(`vi ${name}`)).toMatchObject({ STATUS: "unavailable", REASON: "ConnectionNotFound" });
  });

  // ITEM-12
  test("can't restore an item with another connection of the same name", async () => {
    const name = fresh("again");
    await stack(name);
    await untilCondition(`vi/${name}`, "Ready", "True/Ready");
    await kubectl(`delete ac ${name} --timeout=30s`);
    await untilCondition(`vi/${name}`, "Ready", "False/ConnectionNotFound");
    await apply("AuthConnection", name, { domain: "shop.example", profileName: name, credential: { name } });
    await untilCondition(`ac/${name}`, "Ready", "True/HasCredential");
    expect(await conditionOf(`vi/${name}`, "Ready")).toBe("False/ConnectionNotFound");
    expect((await parts.call("GET", `/vaults/${name}/items/shop`)).body.state).toMatchObject({
      status: "unavailable",
      status_reason: "connection_not_found",
    });
  });

  test("deletes a vault with its items, and waits for them", async () => {
    const name = fresh("vault");
    await stack(name);
    await untilCondition(`vlt/${name}`, "Ready", "True/Ready");
    await kubectl(`delete vlt ${name} --timeout=30s`);
    await expect(kubectl(`get vi ${name}`)).rejects.toThrow("NotFound");
    expect(await kubectl(`get cred,ac ${name} -o name`)).toContain(name);
  });
});

describe("a user's own Secret", () => {
  const openOf = async (vault: string) => {
    const project = parts.services.projects.find(parts.projectId);
    if (!project) throw new Error("no project");
    const { item } = await fetchItem({ vault, key: "shop" }, project, parts.services);
    return openItem(item, project, parts.services);
  };

  test("is read as far as the credential names its fields", async () => {
    const name = fresh("own");
    await stack(name, { valueKeys: ["username", "password", "missing"] });
    const { body } = await parts.call("GET", `/credentials/${name}`);
    expect(body).toMatchObject({ has_values: true, has_totp_secret: false, value_keys: ["password", "username"] });
    const item = await openOf(name);
    expect("login" in item && [...item.login.values].map(([key, value]) => [key, value.reveal()])).toEqual([
      ["username", "alice"],
      ["password", "p"],
    ]);
    await kubectl(`patch cred ${name} --type=merge -p {"spec":{"totp":true}}`);
    expect((await parts.call("GET", `/credentials/${name}/totp-code`)).body.code).toMatch(/^\d{6}$/);
  });

  test("is not written by HTTP, and stays when the credential is deleted", async () => {
    const name = fresh("own");
    await stack(name);
    const refused = await parts.call("PATCH", `/credentials/${name}`, { values: { username: "bob" } });
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(refused.body.message).toContain(name);
    expect((await parts.call("PATCH", `/credentials/${name}`, { sso_provider: "google" })).body.sso_provider).toBe(
      "google",
    );
    await kubectl(`delete cred ${name} --timeout=30s`);
    expect(await kubectl(`get secret ${name} -o jsonpath={.data.username}`)).toBe(
      Buffer.from("alice").toString("base64"),
    );
  });

  test("of a type with another purpose is not read", async () => {
    const name = fresh("own");
    await stack(name);
    await kubectl(`delete secret ${name}`);
    await kubectl("apply -f -", secretYaml(name, { username: "canary" }, "example.dev/cluster-token"));
    expect((await parts.call("GET", `/credentials/${name}`)).body).toMatchObject({ has_values: false, value_keys: [] });
  });

  test("with a malformed TOTP secret is reported, without the secret", async () => {
    const name = fresh("own");
    await stack(name, { totp: true });
    await kubectl("apply -f -", secretYaml(name, { totp_secret: "canary!" }));
    const { status, body } = await parts.call("GET", `/credentials/${name}/totp-code`);
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect(body.message).not.toContain("canary");
  });

  // CREDENTIAL-19, ITEM-19
  test("with a malformed TOTP secret has no codes for HTTP and kubectl, until it is set right", async () => {
    const name = fresh("own");
    await stack(name, { totp: true });
    await kubectl("apply -f -", secretYaml(name, { username: "alice", totp_secret: "canary!" }));
    const read = async () => [
      (await parts.call("GET", `/credentials/${name}`)).body,
      (await parts.call("GET", `/vaults/${name}/items/shop`)).body.state,
    ];
    const fields = { username: { type: "text" } };
    expect(await read()).toMatchObject([
      { has_values: true, has_totp_secret: false, totp_secret_problem: "not_base32" },
      { status: "ready", fields },
    ]);
    expect((await read())[1].fields).toEqual(fields);
    await untilCondition(`cred/${name}`, "Ready", "True/Stored");
    await untilCondition(`vi/${name}`, "Ready", "True/Ready");
    await eventually("kubectl tells it", async () =>
      (await kubectl(`get cred ${name} -o yaml`)).includes("its totp_secret is no base32 text"),
    );

    await kubectl(`patch cred ${name} --type=merge -p {"spec":{"valueKeys":[]}}`);
    expect((await read())[1]).toMatchObject({ status: "unavailable", status_reason: "no_credential" });
    await untilCondition(`cred/${name}`, "Ready", "False/TotpNotBase32");
    await untilCondition(`ac/${name}`, "Ready", "False/CredentialEmpty");
    await untilCondition(`vi/${name}`, "Ready", "False/NoCredential");
    expect(await kubectl(`get cred,vi,ac ${name} -o yaml`)).not.toContain("canary");

    await kubectl("apply -f -", secretYaml(name, { totp_secret: "JBSW Y3DP EHPK 3PXP" }));
    const [credential, state] = await read();
    expect(credential).toMatchObject({ has_totp_secret: true });
    expect(credential).not.toHaveProperty("totp_secret_problem");
    expect(state).toMatchObject({ status: "ready", fields: { totp: { type: "totp" } } });
    await untilCondition(`cred/${name}`, "Ready", "True/Stored");
    await untilCondition(`vi/${name}`, "Ready", "True/Ready");
  });
});

// CONNECTION-21
test("a connection by YAML with settings that nobody carries out says so, and HTTP does not show them", async () => {
  const name = fresh("asks");
  const spec = { domain: "shop.example", profileName: name };
  await apply("AuthConnection", name, { ...spec, recordSession: true, proxy: { name: "px" } });
  await untilCondition(`ac/${name}`, "Accepted", "False/NotSupportedHere");
  const yaml = await kubectl(`get ac ${name} -o yaml`);
  for (const path of ["spec.recordSession", "spec.proxy"]) expect(yaml).toContain(`${path}: `);
  const { body } = await parts.call("GET", `/auth/connections/${name}`);
  expect(body).toMatchObject({ record_session: false });
  expect(body).not.toHaveProperty("proxy");
  await kubectl(`patch ac ${name} --type=merge -p {"spec":{"recordSession":false,"proxy":null}}`);
  await untilCondition(`ac/${name}`, "Accepted", "True/Accepted");
});

describe("an object that HTTP created", () => {
  test("is cleaned up when kubectl deletes it", async () => {
    const { credential, connection } = await connected(parts);
    await parts.client().auth.connections.login(connection);
    const names = [`credential-${credential}`, `login-${connection}`];
    for (const name of names) expect(await parts.kube.get(secrets, { namespace: parts.namespace, name })).toBeDefined();
    await kubectl(`delete cred ${credential} --timeout=30s`);
    await kubectl(`delete ac ${connection} --timeout=30s`);
    for (const name of names)
      expect(await parts.kube.get(secrets, { namespace: parts.namespace, name })).toBeUndefined();
  });

  test("is shown by kubectl, ready and without values", async () => {
    const { connection, credential } = await connected(parts, { username: "canary-user" });
    const vault = (await parts.call("POST", "/vaults", { name: fresh("vault") })).body.id;
    const { id } = (await parts.call("PUT", `/vaults/${vault}/items/shop`, itemOf(connection))).body;
    for (const object of [`cred/${credential}`, `ac/${connection}`, `vlt/${vault}`, `vi/${id}`])
      await waitFor(object, "condition=Ready");
    expect(await kubectl("get browserpool-all -o yaml")).not.toContain("canary-user");
    await parts.call("PATCH", `/credentials/${credential}`, { remove_value_keys: ["username"] });
    await untilCondition(`vi/${id}`, "Ready", "False/NoCredential");
  });

  test("is removed when its vault is deleted at the same moment", async () => {
    // Fails by the wait for the end of the item.
    const { connection } = await connected(parts);
    const vault = (await parts.call("POST", "/vaults", { name: fresh("vault") })).body.id;
    await kubectl(`delete vlt ${vault} --timeout=30s`);
    const name = fresh("orphan");
    const owner = { apiVersion: "browserpool.dev/v1alpha1", kind: "Vault", name: vault, uid: "0000" };
    const item = {
      metadata: { name, namespace: parts.namespace, ownerReferences: [owner] },
      spec: { vault, key: "a", connectionId: connection },
    };
    await parts.kube.create(vaultItemKind, item as never);
    await eventually("it is gone", async () => !(await parts.kube.get(vaultItemKind, item.metadata)));
  });
});

describe("of two objects with the same claim, the older keeps it, and the younger gets it later:", () => {
  test.each<[string, string, (name: string) => object, string]>([
    ["the name of a vault", "Vault", (name) => ({ name }), "NameTaken"],
    [
      "the name of a credential",
      "Credential",
      (name) => ({ name, domain: "a.test", secretRef: { name: "s" }, valueKeys: ["a"] }),
      "NameTaken",
    ],
    [
      "a profile and a domain",
      "AuthConnection",
      (name) => ({ domain: "a.test", profileName: name }),
      "ConnectionExists",
    ],
    ["a key of a vault", "VaultItem", (name) => ({ vault: name, key: "a", connectionId: "c" }), "KeyTaken"],
  ])("%s", async (_what, kind, specOf, reason) => {
    // Fails by a wait that runs out: for the reason of the younger, or for its turn.
    const name = fresh("claim");
    if (kind === "VaultItem") await apply("Vault", name, {});
    const [older, younger] = [`a-${name}`, `b-${name}`];
    await apply(kind, older, specOf(name));
    await untilCondition(`${kind}/${older}`, "Accepted", "True/Accepted");
    await apply(kind, younger, specOf(name));
    await untilCondition(`${kind}/${younger}`, "Accepted", `False/${reason}`);
    await kubectl(`delete ${kind} ${older} --timeout=30s`);
    await untilCondition(`${kind}/${younger}`, "Accepted", "True/Accepted");
  });

  test("an item without its vault waits for one", async () => {
    // Fails by a wait that runs out: for the reason without a vault, or with one.
    const name = fresh("early");
    await apply("VaultItem", name, { vault: name, key: "a", connectionId: "c" });
    await untilCondition(`vi/${name}`, "Ready", "False/VaultNotFound");
    await apply("Vault", name, {});
    await untilCondition(`vi/${name}`, "Ready", "False/ConnectionNotFound");
  });
});

test("an object is not written again when others change and nothing of it does", async () => {
  const name = fresh("quiet");
  await stack(name);
  await untilCondition(`vi/${name}`, "Ready", "True/Ready");
  const versions = () =>
    kubectl(`get cred/${name} ac/${name} vlt/${name} vi/${name} -o jsonpath={.items[*].metadata.resourceVersion}`);
  const before = await versions();
  const other = fresh("other");
  await stack(other);
  await untilCondition(`vi/${other}`, "Ready", "True/Ready");
  await kubectl(`patch cred ${other} --type=merge -p {"spec":{"valueKeys":[]}}`);
  await untilCondition(`vi/${other}`, "Ready", "False/NoCredential");
  expect(await versions()).toBe(before);
});
