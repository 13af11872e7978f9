import { expect, test } from "vitest";
import { type Credential, hasOwnSecret, ownSecretName } from "./credential.ts";

const withSecret = (name: string, secret: string): Credential =>
  ({ metadata: { name }, spec: { secretRef: { name: secret } } }) as Credential;

test("a credential's own Secret is the one that is named after it: no other credential's, and none of a user", () => {
  expect(hasOwnSecret(withSecret("a", ownSecretName("a")))).toBe(true);
  for (const secret of [ownSecretName("b"), "credential-of-a-user", "a"])
    expect(hasOwnSecret(withSecret("a", secret))).toBe(false);
});
