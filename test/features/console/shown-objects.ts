/** One object of each kind that views of the console show, beside pools and sessions. */
import { expect } from "vitest";
import type { LocalProject } from "../../support/stack.ts";
import { writeZip } from "../../support/zip-writer.ts";
import { manifest } from "../extensions/zip/extension-files.ts";

type Id = { id: string };

/** What the API has made. */
export const makeBy = async (
  { call }: Pick<LocalProject, "call">,
  method: string,
  path: string,
  body: unknown,
): Promise<Id> => {
  const answer = await call(method, path, body);
  expect(answer.ok, path).toBe(true);
  return (await answer.json()) as Id;
};

/** The login of alice at shop.example, in the vault `team` as the item `shop`. */
export const makeLogin = async (stack: LocalProject): Promise<{ credential: string; login: string; vault: string }> => {
  const { kernel } = stack;
  const values = { username: "alice", password: "secret" };
  const credential = await kernel.credentials.create({
    ...{ name: "shop", domain: "shop.example", values, totp_secret: "JBSWY3DPEHPK3PXP" },
  });
  const login = await kernel.auth.connections.create({
    ...{ domain: "shop.example", profile_name: "alice", credential: { name: "shop" } },
  });
  const vault = await makeBy(stack, "POST", "/vaults", { name: "team" });
  const spec = { provider: "managed_auth", connection_id: login.id };
  await makeBy(stack, "PUT", "/vaults/team/items/shop", { type: "credential", spec });
  return { credential: credential.id, login: login.id, vault: vault.id };
};

/** A profile, a proxy, an extension and a telemetry destination. */
export const makeBlocks = async (
  stack: LocalProject,
): Promise<{ profile: string; proxy: string; extension: string; destination: string }> => {
  const profile = await stack.kernel.profiles.create({ name: "carol" });
  const config = { host: "127.0.0.1", port: 9 };
  const proxy = await makeBy(stack, "POST", "/proxies", { name: "office", type: "custom", config });
  const form = new FormData();
  form.append("name", "translator");
  form.append("file", new Blob([new Uint8Array(writeZip([manifest({})]))]), "extension.zip");
  const extension = await makeBy(stack, "POST", "/extensions", form);
  const endpoint = "https://otel.example";
  const destination = await makeBy(stack, "POST", "/telemetry/destinations", { name: "otel", endpoint });
  return { profile: profile.id, proxy: proxy.id, extension: extension.id, destination: destination.id };
};
