/** A namespace of a team with Secrets, and an account that may list them: what a credential provider reads. */
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { newId } from "../../../../src/core/objects/new-id.ts";
import type { Kube } from "../../../../src/platform/kube/client.ts";
import type { KubeObject } from "../../../../src/platform/kube/objects.ts";
import { namespaces, type ResourceType, secrets } from "../../../../src/platform/kube/resource-type.ts";
import { writeAccountKubeconfig } from "../../../support/account-kubeconfig.ts";

const typeOf = (group: string, kind: string, plural: string): ResourceType<KubeObject> => ({
  ...{ group, version: "v1", kind, plural, namespaced: true },
});
const rbac = "rbac.authorization.k8s.io";
const accounts = typeOf("", "ServiceAccount", "serviceaccounts");
const roles = typeOf(rbac, "Role", "roles");
const bindings = typeOf(rbac, "RoleBinding", "rolebindings");

export type TeamSecrets = AsyncDisposable & {
  namespace: string;
  /** A token that may list Secrets. */
  token: string;
  /** A token of an account without rights. */
  weakToken: string;
  /** Writes a Secret with its addresses; bytes are stored as they are. */
  put(
    name: string,
    urls: string | undefined,
    data: Record<string, string | Buffer>,
    more?: { labels?: Record<string, string>; type?: string; title?: string },
  ): Promise<void>;
  remove(name: string): Promise<void>;
  /** Takes the rights of `token` away, or gives them back. */
  allow(isAllowed: boolean): Promise<void>;
};

/** A token of a ServiceAccount. `adminPath`: a kubeconfig that may request it. */
export const accountToken = async (
  account: { namespace: string; name: string },
  adminPath: string,
): Promise<string> => {
  const path = join(tmpdir(), `account-${newId()}`);
  await writeAccountKubeconfig(path, account, adminPath);
  const { users } = parse(await readFile(path, "utf8")) as { users: [{ user: { token: string } }] };
  await rm(path);
  return users[0].user.token;
};

export const startTeamSecrets = async (kube: Kube, kubeconfigPath: string): Promise<TeamSecrets> => {
  const namespace = `team-${newId().slice(0, 12)}`;
  await kube.create(namespaces, { metadata: { name: namespace } });
  for (const name of ["reader", "nobody"]) await kube.create(accounts, { metadata: { name, namespace } });
  const role = {
    metadata: { name: "reader", namespace },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }],
  };
  await kube.create(roles, role);
  const bind = () =>
    kube.create(bindings, {
      metadata: { name: "reader", namespace },
      roleRef: { apiGroup: rbac, kind: "Role", name: "reader" },
      subjects: [{ kind: "ServiceAccount", name: "reader", namespace }],
    } as unknown as KubeObject);
  await bind();
  const encoded = (data: Record<string, string | Buffer>) =>
    Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString("base64")]));
  return {
    namespace,
    token: await accountToken({ namespace, name: "reader" }, kubeconfigPath),
    weakToken: await accountToken({ namespace, name: "nobody" }, kubeconfigPath),
    async put(name, urls, data, { labels = {}, type = "Opaque", title } = {}) {
      const annotations = {
        ...(urls !== undefined && { "browserpool.dev/urls": urls }),
        ...(title !== undefined && { "browserpool.dev/title": title }),
      };
      await kube.delete(secrets, { name, namespace });
      await kube.create(secrets, { metadata: { name, namespace, labels, annotations }, type, data: encoded(data) });
    },
    remove: (name) => kube.delete(secrets, { name, namespace }),
    async allow(isAllowed) {
      if (isAllowed) await bind();
      else await kube.delete(bindings, { name: "reader", namespace });
    },
    [Symbol.asyncDispose]: () => kube.delete(namespaces, { name: namespace }),
  };
};
