/** The store of a provider in trouble: very many Secrets, and an API server that does not answer. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { openSecretStore } from "../../../../src/features/vaults/providers/secret-store.ts";
import { ProviderFailed } from "../../../../src/features/vaults/providers/store.ts";
import { Sensitive } from "../../../../src/platform/base/sensitive.ts";
import { connectKube, type Kube } from "../../../../src/platform/kube/client.ts";
import { sharedServers } from "../../../support/control-plane.ts";
import { startTeamSecrets, type TeamSecrets } from "./team-secrets.ts";

let kube: Kube;
let team: TeamSecrets;
let kubeconfigPath: string;
beforeAll(async () => {
  ({ kubeconfigPath } = await sharedServers());
  kube = connectKube({ kubeconfigPath });
  team = await startTeamSecrets(kube, kubeconfigPath);
});
afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await kube?.close();
});

const store = (labelSelector = "", api = kube) =>
  openSecretStore({ token: new Sensitive(team.token), namespace: team.namespace, labelSelector }, api);

// PROVIDER-4
test("a list of more Secrets than a page, and of large ones, is whole", async () => {
  const names = Array.from({ length: 620 }, (_, index) => `s-${index}`);
  while (names.length > 0)
    await Promise.all(
      names.splice(-20).map((name, index) =>
        // Bytes of values do not come with a list.
        team.put(name, `https://${name}.example`, { password: "x".repeat(index === 0 ? 900_000 : 1) }),
      ),
    );
  const items = await store().list();
  expect(new Set(items.map(({ path }) => path)).size).toBe(620);
  expect((await store("none=here").list()).length).toBe(0);
});

// PROVIDER-9
test("a server that accepts and says nothing is given up on in time, and its Secrets are not read", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  const folder = await mkdtemp(join(tmpdir(), "browserpool-silent-"));
  const path = join(folder, "kubeconfig");
  const config = parse(await readFile(kubeconfigPath, "utf8"));
  config.clusters[0].cluster = { server: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` };
  await writeFile(path, stringify(config));
  const unanswered = connectKube({ kubeconfigPath: path });
  try {
    const beganMs = performance.now();
    const failed = await Promise.all(
      [
        store("", unanswered).list(),
        store("", unanswered).read(`${team.namespace}/s-1`),
        store("", unanswered).tryList(),
      ].map((tried: Promise<unknown>) =>
        tried.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    for (const error of failed) {
      expect(error).toBeInstanceOf(ProviderFailed);
      expect(error).toMatchObject({ code: "credential_provider_unavailable" });
    }
    expect(performance.now() - beganMs).toBeLessThan(25_000);
  } finally {
    await unanswered.close();
    silent.close();
    await rm(folder, { recursive: true });
  }
});
