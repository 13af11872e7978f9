/**
 * `allowed_origins` of credentials, connections and items: what each may say, over HTTP and YAML. Fills:
 * fill-item.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../../../src/core/projects/projects.ts";
import { type Credential, credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { updateCredential } from "../../../src/features/vaults/credentials/update-credential.ts";
import { openItem } from "../../../src/features/vaults/items/open-item.ts";
import { vaultItemKind } from "../../../src/features/vaults/items/vault-item.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, fresh, itemOf, startVaultParts, type VaultParts } from "./vault-parts.ts";

const [a, b, c] = ["https://a.test", "https://b.test", "https://c.test"];
let parts: VaultParts;
beforeAll(async () => {
  parts = await startVaultParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const project = (): Project => {
  const found = parts.services.projects.find(parts.projectId);
  if (!found) throw new Error("no project");
  return found;
};

const credentialOf = async (
  allowed_origins?: string[] | null,
): Promise<{ id: string; name: string; answer: Answer }> => {
  const name = fresh("login");
  const body = {
    name,
    domain: "shop.example",
    values: { user: "old" },
    ...(allowed_origins !== undefined && { allowed_origins }),
  };
  const answer = await parts.call("POST", "/credentials", body);
  return { id: answer.body.id, name, answer };
};
const connect = (name: string, allowed_origins?: string[] | null): Promise<Answer> =>
  parts.call("POST", "/auth/connections", {
    domain: "shop.example",
    profile_name: fresh("profile"),
    credential: { name },
    ...(allowed_origins !== undefined && { allowed_origins }),
  });
const putItem = async (connection: string, allowed_origins?: string[]): Promise<Answer> => {
  const { body } = await parts.call("POST", "/vaults", { name: fresh("vault") });
  const spec = allowed_origins === undefined ? {} : { allowed_origins };
  return parts.call("PUT", `/vaults/${body.id}/items/${fresh("item")}`, itemOf(connection, spec));
};
const patch = (path: string, body: object): Promise<Answer> => parts.call("PATCH", path, body);

/** What a credential's object says of its origins. */
const storedOrigins = async (id: string): Promise<string[] | undefined> =>
  (await parts.kube.get(credentialKind, { namespace: parts.namespace, name: id }))?.spec.allowedOrigins;

describe("the allowed origins of a credential", () => {
  // CREDENTIAL-17
  test("are stored, shown, replaced and removed", async () => {
    const { id, answer } = await credentialOf([a, b]);
    expect(answer).toMatchObject({ status: 201, body: { allowed_origins: [a, b] } });
    expect((await patch(`/credentials/${id}`, { allowed_origins: [c] })).body.allowed_origins).toEqual([c]);
    expect((await patch(`/credentials/${id}`, { values: { user: "x" } })).body.allowed_origins).toEqual([c]);
    const { body: removed } = await patch(`/credentials/${id}`, { allowed_origins: null });
    expect(Object.keys(removed)).not.toContain("allowed_origins");
    expect(await storedOrigins(id)).toBeUndefined();
  });

  // CREDENTIAL-17
  test.each([
    [[], "allowed_origins"],
    [["https://a.test/"], "allowed_origins[0]"],
    [[a, "https://b.test:443"], "allowed_origins[1]"],
    [["http://a.test"], "allowed_origins[0]"],
    [["*"], "allowed_origins[0]"],
    ["https://a.test", "allowed_origins"],
  ])("can't be %j: 400, which names the place, and nothing changes", async (allowed_origins, path) => {
    const { id, name } = await credentialOf([a]);
    const refusals = [
      await credentialOf(allowed_origins as string[]).then(({ answer }) => answer),
      await patch(`/credentials/${id}`, { allowed_origins, values: { user: "new" } }),
      await connect(name, allowed_origins as string[]),
    ];
    for (const { status, body } of refusals) {
      expect(status).toBe(400);
      expect(body.details).toContainEqual(expect.objectContaining({ path }));
    }
    expect(await storedOrigins(id)).toEqual([a]);
  });
});

describe("a narrower one can't be wider", () => {
  // CONNECTION-22
  test("a connection beyond its credential is refused, which names origin and credential", async () => {
    const { name } = await credentialOf([a, b]);
    const refused = await connect(name, [b, c]);
    expect(refused.status).toBe(400);
    expect(refused.body.details).toMatchObject([{ path: "allowed_origins[1]" }]);
    expect(refused.body.message).toContain(`${c} is not among the allowed_origins of credential ${name}`);
    const { status, body } = await connect(name, [b]);
    expect(status).toBe(201);
    expect(body.allowed_origins).toEqual([b]);
    expect((await patch(`/auth/connections/${body.id}`, { allowed_origins: [a, c] })).status).toBe(400);
    expect((await patch(`/auth/connections/${body.id}`, { allowed_origins: [a] })).body.allowed_origins).toEqual([a]);
    const other = await credentialOf([c]);
    expect((await patch(`/auth/connections/${body.id}`, { credential: { name: other.name } })).status).toBe(400);
    const { body: removed } = await patch(`/auth/connections/${body.id}`, { allowed_origins: null });
    expect(Object.keys(removed)).not.toContain("allowed_origins");
  });

  // CONNECTION-22
  test("a connection that was narrower before a change of its credential stays changeable", async () => {
    const { id, name } = await credentialOf([a, b]);
    const { body } = await connect(name, [b]);
    await patch(`/credentials/${id}`, { allowed_origins: [a] });
    expect((await patch(`/auth/connections/${body.id}`, { save_credentials: false })).status).toBe(200);
  });

  // ITEM-38
  test("an item beyond its connection or credential is refused, which names origin and owner", async () => {
    const { name } = await credentialOf([a, b]);
    const { body: connection } = await connect(name, [b]);
    const beyond = await putItem(connection.id, [c]);
    expect(beyond.status).toBe(400);
    expect(beyond.body.message).toContain(
      `spec.allowed_origins[0]: ${c} is not among the allowed_origins of credential ${name}`,
    );
    const between = await putItem(connection.id, [a]);
    expect(between.status).toBe(400);
    expect(between.body.message).toContain(`${a} is not among the allowed_origins of connection ${connection.id}`);
    expect((await putItem(connection.id, [b])).status).toBe(200);
    expect((await putItem(connection.id)).status).toBe(200);
  });
});

describe("a change of values and origins together", () => {
  const itemOfCredential = async (name: string) => {
    const { body: connection } = await connect(name);
    const { body } = await putItem(connection.id);
    const item = await parts.kube.get(vaultItemKind, { namespace: parts.namespace, name: body.id });
    if (!item) throw new Error("no item");
    return item;
  };
  /** The kube client of requests, with something that happens right before a call for a Secret. */
  const withHook = (method: "get" | "patch", before: () => Promise<unknown>): Kube => ({
    ...parts.services.kube,
    async [method](type: { kind: string }, ...rest: unknown[]) {
      if (type.kind === secrets.kind) await before();
      // biome-ignore lint/suspicious/noExplicitAny: passes on what it got
      return (parts.services.kube[method] as any)(type, ...rest);
    },
  });

  // CREDENTIAL-18
  test("allows only what is allowed before and after it while the values are written, then the new ones", async () => {
    const { id, name } = await credentialOf([a, b]);
    const during: unknown[] = [];
    const kube = withHook("patch", async () => during.push(await storedOrigins(id)));
    const request = { values: { user: "new" }, allowed_origins: [b, c] };
    await updateCredential({ idOrName: name, request }, project(), { ...parts.services, kube });
    expect(during).toEqual([[b]]);
    expect(await storedOrigins(id)).toEqual([b, c]);
    const last = { values: { user: "newer" }, allowed_origins: [a] };
    await updateCredential({ idOrName: name, request: last }, project(), { ...parts.services, kube });
    expect(during).toEqual([[b], []]);
    expect(await storedOrigins(id)).toEqual([a]);
  });

  // CREDENTIAL-18
  test("never gives a fill new values with old origins, or old values with new ones", async () => {
    const { name } = await credentialOf([a, b]);
    const item = await itemOfCredential(name);
    const change = { values: { user: "new" }, allowed_origins: [b, c] };
    // The whole change happens between the fill's look at the credential and its look at the Secret.
    const early = await openItem(item, project(), {
      ...parts.services,
      kube: withHook("get", () => updateCredential({ idOrName: name, request: change }, project(), parts.services)),
    });
    expect(early).toMatchObject({ allowedOrigins: [b] });
    const after = await openItem(item, project(), parts.services);
    expect(after).toMatchObject({ allowedOrigins: [b, c] });
    expect("login" in after && after.login.values.get("user")?.reveal()).toBe("new");
  });

  test("that is refused for its values leaves the origins", async () => {
    const { id } = await credentialOf([a]);
    for (const bad of [{ totp_secret: "not base32!" }, { values: { user: "browserpool:v1:x" }, totp_secret: "1" }])
      expect((await patch(`/credentials/${id}`, { ...bad, allowed_origins: [b] })).status).toBe(400);
    expect(await storedOrigins(id)).toEqual([a]);
  });
});

describe("by YAML", () => {
  const readyOf = async (name: string) => {
    const item = await parts.kube.get(vaultItemKind, { namespace: parts.namespace, name });
    return item?.status?.conditions.find(({ type }) => type === "Ready");
  };
  const write = (credential: string, allowedOrigins: string[] | null): Promise<Credential> =>
    parts.kube.patch(credentialKind, { namespace: parts.namespace, name: credential }, { spec: { allowedOrigins } });

  // ITEM-38
  test("the narrower one wins, and an item that no page is left for says so", async () => {
    const { id, name } = await credentialOf();
    const { body: connection } = await connect(name, [a, b]);
    const { body: item } = await putItem(connection.id, [a, b]);
    await eventually("the item is ready", async () => (await readyOf(item.id))?.status === "True");
    await write(id, [c]);
    await eventually(
      "the item says that no origin is left",
      async () => (await readyOf(item.id))?.reason === "NoOrigin",
    );
    await write(id, [b, c]);
    await eventually("the item is ready again", async () => (await readyOf(item.id))?.status === "True");
    const stored = await parts.kube.get(vaultItemKind, { namespace: parts.namespace, name: item.id });
    expect(stored && (await openItem(stored, project(), parts.services))).toMatchObject({ allowedOrigins: [b] });
  });
});
