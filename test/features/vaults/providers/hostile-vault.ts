/** A server in the place of a Vault. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { ProviderFailed } from "../../../../src/features/vaults/providers/store.ts";
import { openVaultStore } from "../../../../src/features/vaults/providers/vault-store.ts";
import { Sensitive } from "../../../../src/platform/base/sensitive.ts";

/** The token that it is sent. */
export const token = "hvs.token-canary";

/** `asked`, `tokens`: what requests had. */
type Hostile = AsyncDisposable & { address: string; asked: string[]; tokens: Set<string> };

/** Starts one that answers by `listener`. */
export const hostile = async (listener: RequestListener): Promise<Hostile> => {
  const asked: string[] = [];
  const tokens = new Set<string>();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    tokens.add(String(request.headers["x-vault-token"]));
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** The store that a provider with this address has. */
export const storeAt = (address: string, more: object = {}) =>
  openVaultStore({ address, token: new Sensitive(token), namespace: "", mount: "secret", pathPrefix: "", ...more });

/** Why it failed. */
export const failure = (tried: Promise<unknown>): Promise<ProviderFailed> =>
  tried.then(
    () => expect.fail("it did not fail"),
    (error) => error,
  );
