import { afterAll, beforeAll, expect, test } from "vitest";
import { beginVisit, collectLogin, type LoginVisit } from "../../../src/features/vaults/connections/collect-login.ts";
import { fetchConnection } from "../../../src/features/vaults/connections/connections.ts";
import { newLoginCode } from "../../../src/features/vaults/connections/login-code.ts";
import { fetchCredential } from "../../../src/features/vaults/credentials/credentials.ts";
import { openLogin } from "../../../src/features/vaults/logins/stored-login.ts";
import { connected, startVaultParts, type VaultParts } from "./vault-parts.ts";

let parts: VaultParts;
beforeAll(async () => {
  parts = await startVaultParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

/**
 * A connection with a stored login. `visit`: has a person open a new link of it. `password`: the one that is stored.
 */
const connection = async () => {
  const { services, projectId } = parts;
  const { connection: connectionId, credential } = await connected(parts, { username: "ann", password: "first" });
  const project = services.projects.find(projectId) ?? expect.fail("no project");
  const place = { projectId, connectionId };
  return {
    async visit(): Promise<LoginVisit> {
      const use = { ...place, stage: "code" as const };
      const { code } = await newLoginCode(
        { connection: await fetchConnection(connectionId, project, services), use },
        services,
      );
      return { ...place, ticket: await beginVisit({ ...place, code }, services) };
    },
    submit: (visit: LoginVisit, password: string) => collectLogin(visit, { username: "ann", password }, services),
    async password(): Promise<string | undefined> {
      const { values } = await openLogin(await fetchCredential(credential, project, services), services);
      return values.get("password")?.reveal();
    },
  };
};
const refused = { code: "forbidden" };

// CONNECTION-17
test("a login page that was used changes no stored value", async () => {
  const { visit, submit, password } = await connection();
  const mine = await visit();
  await submit(mine, "second");
  await expect(submit(mine, "third")).rejects.toMatchObject(refused);
  expect(await password()).toBe("second");
});

// CONNECTION-17
test("a login page that a newer link has replaced changes no stored value", async () => {
  const { visit, submit, password } = await connection();
  const [older, newer] = [await visit(), await visit()];
  await expect(submit(older, "of the older")).rejects.toMatchObject(refused);
  expect(await password()).toBe("first");
  await submit(newer, "of the newer");
  expect(await password()).toBe("of the newer");
});
