import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { renameCredentialOfConnections } from "./update-credential.ts";

const connection = (name: string, credential: string) => ({
  metadata: { name, namespace: "project", creationTimestamp: "2030-01-01T00:00:00Z" },
  spec: { credential: { name: credential } },
});

/**
 * A rename while the API server has not answered the change of any connection. `patched`: the connections that it has
 * changed.
 */
const rename = () => {
  const answer = Promise.withResolvers<void>();
  const patched: string[] = [];
  const kube = {
    list: async () => ({ items: [connection("a", "old"), connection("b", "other"), connection("c", "old")] }),
    async patch(_kind: unknown, { name }: { name: string }) {
      await answer.promise;
      patched.push(name);
    },
  } as unknown as Kube;
  const project = { namespace: "project" } as Project;
  return { renamed: renameCredentialOfConnections({ from: "old", to: "new", project }, { kube }), answer, patched };
};

// CREDENTIAL-13
test("a credential is renamed when all connections that refer to it have its new name", async () => {
  const { renamed, answer, patched } = rename();
  let isOver = false;
  void renamed.then(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(isOver).toBe(false);
  answer.resolve();
  await renamed;
  expect(patched).toEqual(["a", "c"]);
});

test("a connection that does not get the new name fails the rename", async () => {
  const { renamed, answer } = rename();
  answer.reject(new Error("no answer"));
  await expect(renamed).rejects.toThrow("no answer");
});
