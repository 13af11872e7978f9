/** The rights that an installation gives to the api and the operator, and what it keeps in every project for them. */
import { parseAllDocuments } from "yaml";
import type { Kube } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { createResourceTypes } from "../../src/kube/resource-types.ts";

const kinds = "[browserpools, browsers, vaults, vaultitems, credentials, authconnections]";

/** `namespace`: the system namespace. */
const rolesYaml = (namespace: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: browserpool-api }
rules:
  - { apiGroups: [browserpool.dev], resources: ${kinds}, verbs: [get, list, watch] }
  - { apiGroups: [""], resources: [namespaces], verbs: [get, list, watch, create, patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: browserpool-api, namespace: ${namespace} }
rules:
  - { apiGroups: [""], resources: [secrets], verbs: [get, list, watch, create, patch, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: browserpool-project-api }
rules:
  - { apiGroups: [browserpool.dev], resources: ${kinds}, verbs: [create, update, patch, delete] }
  - { apiGroups: [""], resources: [secrets], verbs: [get, create, patch] }
  - { apiGroups: [""], resources: [configmaps], verbs: [get, create, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: browserpool-operator }
rules:
  - { apiGroups: [browserpool.dev], resources: ${kinds}, verbs: [get, list, watch] }
  - { apiGroups: [""], resources: [pods, nodes], verbs: [get, list, watch] }
  - { apiGroups: [""], resources: [namespaces], verbs: [get, list, watch, patch] }
  - { apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get, create, patch] }
  - { apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [get, create, patch] }
  - { apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get, create, patch] }
  - apiGroups: [rbac.authorization.k8s.io]
    resources: [clusterroles]
    resourceNames: [browserpool-project-api, browserpool-project-operator]
    verbs: [bind]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: browserpool-operator, namespace: ${namespace} }
rules:
  - { apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create] }
  - { apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [browserpool-operator], verbs: [get, update] }
  - { apiGroups: [""], resources: [secrets], verbs: [create] }
  - { apiGroups: [""], resources: [secrets], resourceNames: [signing-key], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: browserpool-project-operator }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [create, patch, delete] }
  - { apiGroups: [browserpool.dev], resources: ${kinds}, verbs: [patch] }
  - apiGroups: [browserpool.dev]
    resources: [browserpools/status, browsers/status, vaults/status, vaultitems/status, credentials/status, authconnections/status]
    verbs: [update]
  - { apiGroups: [browserpool.dev], resources: [browserpools/finalizers, browsers/finalizers], verbs: [update] }
  - { apiGroups: [browserpool.dev], resources: [browsers, vaultitems], verbs: [delete] }
  - { apiGroups: [""], resources: [secrets], verbs: [delete] }
  - { apiGroups: [""], resources: [configmaps], verbs: [list, delete] }
  - { apiGroups: [events.k8s.io], resources: [events], verbs: [get, create, patch] }
`;

export type Account = "browserpool-api" | "browserpool-operator";

const accounts: Account[] = ["browserpool-api", "browserpool-operator"];

const group = "rbac.authorization.k8s.io";

const binding = (kind: string, role: string, account: Account, namespace: string) => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: account },
  roleRef: {
    apiGroup: group,
    kind: role.startsWith("Role/") ? "Role" : "ClusterRole",
    name: role.replace(/^Role\//, ""),
  },
  subjects: [{ kind: "ServiceAccount", name: account, namespace }],
});

/** What every project has: each account's rights there, and a budget as an example of the rest. `namespace`: the system namespace. */
export const projectObjects = (namespace: string): KubeObject[] => [
  binding("RoleBinding", "browserpool-project-api", "browserpool-api", namespace),
  binding("RoleBinding", "browserpool-project-operator", "browserpool-operator", namespace),
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "browserpool-leased" },
    spec: { maxUnavailable: 0, selector: { matchLabels: { "browserpool.dev/leased": "true" } } },
  } as KubeObject,
];

/** Makes the two accounts with all they may do outside of projects. */
export const installRights = async (kube: Kube, namespace: string): Promise<void> => {
  const types = createResourceTypes(kube);
  const roles = parseAllDocuments(rolesYaml(namespace)).map((document) => document.toJS() as KubeObject);
  const given = accounts.flatMap((account): KubeObject[] => {
    const own = binding("RoleBinding", `Role/${account}`, account, namespace);
    return [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace } },
      binding("ClusterRoleBinding", account, account, namespace),
      { ...own, metadata: { ...own.metadata, namespace } } as KubeObject,
    ];
  });
  for (const object of [...roles, ...given]) await kube.apply(await types.of(object), object, { fieldManager: "test" });
};
