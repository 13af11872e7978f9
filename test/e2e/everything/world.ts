/** A project, the proxies that its browsers take, and what their profile has. */

import { loginArchive } from "../../support/saved-profile.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { ownAddress } from "../../support/wall/machine.ts";
import { startTestParent, type TestParent } from "../../support/wall/parent-proxy.ts";
import { createTestCa } from "../../support/wall/test-ca.ts";

/** The login of the first proxy. */
export const proxyLogin = { username: "user", password: "p@ss:word" };

export type World = {
  stack: LocalProject;
  /** It takes TLS and `proxyLogin`, and answers for `secure.test` by a certificate of `authority`. */
  parent: TestParent;
  /** It takes neither, and answers for `routed.test`. */
  route: TestParent;
  /** PEM. */
  authority: string;
  /** Contents of a profile that is logged in at `secure.test`: the cookie `login` is `ann`. */
  login: Buffer;
  [Symbol.asyncDispose](): Promise<void>;
};

export const startWorld = async (): Promise<World> => {
  await using parts = new AsyncDisposableStack();
  const stack = parts.use(await startProject());
  const ca = parts.use(await createTestCa());
  const terminate = await ca.issue(["secure.test", "routed.test"]);
  const { username, password } = proxyLogin;
  const tls = await ca.issue([ownAddress]);
  const parent = parts.use(await startTestParent({ tls, credentials: `${username}:${password}`, terminate }));
  const route = parts.use(await startTestParent({ terminate }));
  const login = await loginArchive("ann", "secure.test");
  const kept = parts.move();
  return {
    stack,
    parent,
    route,
    authority: ca.certificate,
    login,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

/** The extensions of each pool, in their order. */
export const extensionNames = ["first", "second"] as const;

/** A pool with everything, and what it refers to. All have names that begin with the pool's. */
export type MakePool = (world: World, pool: { name: string; headless: boolean }) => Promise<void>;
