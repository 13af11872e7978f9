/** What the chart's two accounts may do, and what roles and admission policies refuse them, checked against an API server. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Account, type Cluster, startCluster, systemNamespace } from "./start-cluster.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

const secret = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData: { value: "x" },
});
const pool = (name: string, namespace = "team", size = 1) => ({
  apiVersion: "browserpool.dev/v1alpha1",
  kind: "BrowserPool",
  metadata: { name, namespace },
  spec: { size },
});
const namespaceOf = (name: string, labels: object) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const binding = (role: string, subject: object, namespace = "team") => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: "made-up", namespace },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects: [{ kind: "ServiceAccount", name: "browserpool-operator", namespace: systemNamespace, ...subject }],
});
const policy = (namespace: string) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "made-up", namespace },
  spec: { podSelector: {} },
});

/** The browser pod with other fields in its spec or its container. */
const podWith = (name: string, { spec = {}, container = {}, namespace = "team" }) => {
  const pod = cluster.pod as { metadata: { name: string }; spec: { containers: object[] } };
  // With the Secret of this very pod.
  const named = JSON.parse(JSON.stringify(pod.spec.containers).replaceAll(pod.metadata.name, name)) as object[];
  const containers = named.map((it) => ({ ...it, ...container }));
  return {
    ...pod,
    metadata: { name, namespace },
    spec: { ...pod.spec, containers, ...spec },
  };
};

const agentKey = (name: string) => ({
  ...secret(name, "team"),
  type: "browserpool.dev/agent-key",
  metadata: { name, namespace: "team", labels: { key: "" } },
});

/** Roles refuse with this message, policies with their own. */
const byRole = / is forbidden: User /;

type Case = [what: string, account: Account, args: string, objects?: () => object[]];

beforeAll(async () => {
  const made = [
    secret("login", "team"),
    secret("browserpool-redis", systemNamespace),
    pool("known"),
    pool("known", "other"),
  ];
  const { ok, text } = await cluster.kubectl("admin", "apply -f -", made);
  expect(ok, text).toBe(true);
});

describe("may", () => {
  test.each<Case>([
    ["find API keys by listing them in its own namespace", "api", `get secrets -n ${systemNamespace}`],
    ["make an API key", "api", "create -f -", () => [secret("api-key-1", systemNamespace)]],
    ["leave the first key", "api", "create -f -", () => [secret("browserpool-initial-key", systemNamespace)]],
    ["take an API key back", "api", `delete secret api-key-1 -n ${systemNamespace}`],
    ["make the signing key", "operator", "create -f -", () => [secret("signing-key", systemNamespace)]],
    ["read the signing key", "operator", `get secret signing-key -n ${systemNamespace}`],
    ["make the agents' master key", "operator", "create -f -", () => [secret("agent-master-key", systemNamespace)]],
    ["read the agents' master key", "operator", `get secret agent-master-key -n ${systemNamespace}`],
    ["make the key of an agent", "operator", "create -f -", () => [agentKey("shop-x-agent-key")]],
    [
      "delete keys of agents by their label",
      "operator",
      "delete --raw /api/v1/namespaces/team/secrets?labelSelector=key",
    ],
    ["make a project", "api", "create -f -", () => [namespaceOf("p1", { "browserpool.dev/project": "p1" })]],
    ["mark a project as deleted", "api", "label namespace team browserpool.dev/project-status=deleted"],
    ["change a project's annotations", "api", "annotate namespace team browserpool.dev/project-name=x"],
    ["keep the organization's limits", "api", `annotate namespace ${systemNamespace} browserpool.dev/x=1`],
    ["see pools of all projects", "api", "get browserpools -A"],
    ["make a pool in a project", "api", "create -f -", () => [pool("made")]],
    ["keep a login in a project", "api", "create -f -", () => [secret("kept", "team")]],
    ["read a login that it can name", "api", "get secret login -n team"],
    ["see pods and nodes", "operator", "get pods,nodes -A"],
    ["start a browser in a project", "operator", "create -f -", () => [podWith("browser", {})]],
    ["mark a leased browser", "operator", "label pod browser -n team browserpool.dev/leased=true"],
    ["end a browser", "operator", "delete pod browser -n team --wait=false"],
    ["delete a login with its credential", "operator", "delete secret kept -n team"],
    [
      "add a finalizer",
      "operator",
      `patch browserpool known -n team --type=merge -p {"metadata":{"finalizers":["a.b/c"]}}`,
    ],
    [
      "take a finalizer off",
      "operator",
      `patch browserpool known -n team --type=merge -p {"metadata":{"finalizers":[]}}`,
    ],
    ["keep the objects of a project", "operator", "apply --server-side -n team -f -", () => cluster.projectObjects],
  ])("%s (%s %s)", async (_, account, args, objects = () => []) => {
    const { ok, text } = await cluster.kubectl(account, args, objects());
    expect(ok, text).toBe(true);
  });
});

describe("is refused by its roles", () => {
  test.each<Case>([
    ["to see pods", "api", "get pods -n team"],
    ["to see nodes", "api", "get nodes"],
    ["to list the logins of a project", "api", "get secrets -n team"],
    ["to delete a login", "api", "delete secret login -n team"],
    ["to see Secrets of others", "api", "get secrets -n other"],
    ["to see Secrets everywhere", "api", "get secrets -A"],
    ["to write where there is no project", "api", "create -f -", () => [pool("made", "other")]],
    ["to write a status", "api", "patch browserpool known -n team --subresource=status --type=merge -p {}"],
    ["to delete a namespace", "api", "delete namespace team"],
    ["to write a role", "api", "create clusterrole x --verb=get --resource=pods"],
    ["to read a login", "operator", "get secret login -n team"],
    ["to list Secrets anywhere", "operator", `get secrets -n ${systemNamespace}`],
    ["to read the login of Redis", "operator", `get secret browserpool-redis -n ${systemNamespace}`],
    ["to make a browser elsewhere", "operator", "create -f -", () => [podWith("browser", { namespace: "other" })]],
    ["to make a pod beside itself", "operator", "create -f -", () => [podWith("x", { namespace: systemNamespace })]],
    ["to run a command in a browser", "operator", "auth can-i create pods --subresource=exec -n team"],
    ["to make a pool", "operator", "create -f -", () => [pool("own")]],
    ["to delete a pool", "operator", "delete browserpool known -n team"],
  ])("%s (%s %s)", async (_, account, args, objects = () => []) => {
    const { ok, text } = await cluster.kubectl(account, args, objects());
    expect(ok, text).toBe(false);
    expect(text).toMatch(args.startsWith("auth can-i") ? /^no/ : byRole);
  });

  test("to bind a role that is not a project's (operator)", async () => {
    const { ok, text } = await cluster.kubectl("operator", "create -f -", [binding("cluster-admin", {})]);
    expect(ok).toBe(false);
    expect(text).toMatch(/is attempting to grant RBAC permissions not currently held|binds each of the two accounts/);
  });
});

describe("is refused by a policy", () => {
  const mountsSecret = {
    volumes: [
      { name: "tmp", secret: { secretName: "login" } },
      { name: "shm", emptyDir: {} },
    ],
  };
  const mountsToken = {
    serviceAccountName: "default",
    volumes: [
      { name: "tmp", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      { name: "shm", emptyDir: {} },
    ],
  };
  const readsKey = (name: string) => ({ name: "A", valueFrom: { secretKeyRef: { name, key: "value" } } });
  const readsSecret = { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "login", key: "value" } } }] };
  const project = { "browserpool.dev/project": "x" };
  const sized = `{"spec":{"size":9}}`;

  test.each<[...Case, RegExp]>([
    [
      "to write the login of Redis",
      "api",
      "create -f -",
      () => [secret("other", systemNamespace)],
      /writes its keys only/,
    ],
    [
      "to delete the login of Redis",
      "api",
      `delete secret browserpool-redis -n ${systemNamespace}`,
      () => [],
      /keys only/,
    ],
    ["to make any Secret", "operator", "create -f -", () => [secret("x", systemNamespace)], /writes its keys only/],
    [
      "to make a plain namespace",
      "api",
      "create -f -",
      () => [namespaceOf("plain", {})],
      /makes and changes projects only/,
    ],
    ["to name a project otherwise", "api", "create -f -", () => [namespaceOf("plain", project)], /projects only/],
    [
      "to make a project of a namespace",
      "api",
      "label namespace other browserpool.dev/project=other",
      () => [],
      /projects only/,
    ],
    ["to change a namespace of others", "api", "annotate namespace kube-system a=b", () => [], /projects only/],
    [
      "to take a project from Pod Security",
      "api",
      "label namespace team pod-security.kubernetes.io/enforce-",
      () => [],
      /changes the status only/,
    ],
    [
      "to make its own namespace a project",
      "api",
      `label namespace ${systemNamespace} browserpool.dev/project=x`,
      () => [],
      /changes the status only/,
    ],
    ["to label any namespace", "operator", "label namespace other a=b", () => [], /namespaces of projects only/],
    [
      "to end a project",
      "operator",
      "label namespace team browserpool.dev/project-",
      () => [],
      /namespaces of projects only/,
    ],
    ["to write policies elsewhere", "operator", "create -f -", () => [policy("other")], /namespaces of projects only/],
    ["to write policies of the service", "operator", "create -f -", () => [policy(systemNamespace)], /projects only/],
    [
      "to bind a project's role elsewhere",
      "operator",
      "create -f -",
      () => [binding("browserpool-project-operator", {}, "other")],
      /namespaces of projects only/,
    ],
    [
      "to give the API's rights to itself",
      "operator",
      "create -f -",
      () => [binding("browserpool-project-api", {})],
      /binds each of the two accounts to its role/,
    ],
    [
      "to give rights to another account",
      "operator",
      "create -f -",
      () => [binding("browserpool-project-operator", { name: "default", namespace: "other" })],
      /binds each of the two accounts to its role/,
    ],
    ["to mount a login", "operator", "create -f -", () => [podWith("x", { spec: mountsSecret })], /mount no Secrets/],
    [
      "to mount a token",
      "operator",
      "create -f -",
      () => [podWith("x", { spec: mountsToken })],
      /mount no Secrets, no tokens/,
    ],
    [
      "to read a login",
      "operator",
      "create -f -",
      () => [podWith("x", { container: readsSecret })],
      /no Secret but the key of their own/,
    ],
    [
      "to read the key of another browser's agent",
      "operator",
      "create -f -",
      () => [podWith("x", { container: { env: [readsKey("y-agent-key")] } })],
      /no Secret but the key of their own/,
    ],
    ["to make a login", "operator", "create -f -", () => [secret("made", "team")], /keys of agents only/],
    [
      "to make a key under the name of a login",
      "operator",
      "create -f -",
      () => [agentKey("login-2")],
      /keys of agents only/,
    ],
    [
      "to read logins by deleting them, even for a try",
      "operator",
      "delete --raw /api/v1/namespaces/team/secrets?dryRun=All",
      () => [],
      /deletes other Secrets one by one/,
    ],
    [
      "to give a token",
      "operator",
      "create -f -",
      () => [podWith("x", { spec: { automountServiceAccountToken: true } })],
      /no token of the cluster/,
    ],
    [
      "to size a pool",
      "operator",
      `patch browserpool known -n team --type=merge -p ${sized}`,
      () => [],
      /writes no specs/,
    ],
  ])("%s (%s %s)", async (...[, account, args, objects, message]) => {
    const { ok, text } = await cluster.kubectl(account, args, objects?.() ?? []);
    expect(ok, text).toBe(false);
    expect(text).toMatch(message);
  });
});

test("a pod with the node's network is refused in a project, also for an administrator", async () => {
  const onNode = podWith("on-node", { spec: { hostNetwork: true } });
  const { ok, text } = await cluster.kubectl("admin", "create -f -", [onNode]);
  expect(ok, text).toBe(false);
  expect(text).toContain('violates PodSecurity "restricted:latest": host namespaces');
});

test("all pods of the release pass Pod Security restricted", async () => {
  const warned = namespaceOf("warned", { "pod-security.kubernetes.io/warn": "restricted" });
  const workloads = cluster.workloads.map((it) => ({
    ...it,
    metadata: { name: it.metadata.name, namespace: "warned" },
  }));
  expect(workloads.map(({ metadata }) => metadata.name)).toEqual([
    "browserpool-api",
    "browserpool-operator",
    "browserpool-redis",
  ]);
  const { ok, text } = await cluster.kubectl("admin", "create -f -", [warned, ...workloads]);
  expect(ok, text).toBe(true);
  expect(text).not.toContain("Warning");

  const [one] = cluster.workloads;
  const template = { ...one?.spec?.template, spec: { ...one?.spec?.template?.spec, securityContext: {} } };
  const careless = { ...one, metadata: { name: "careless", namespace: "warned" }, spec: { ...one?.spec, template } };
  expect((await cluster.kubectl("admin", "create -f -", [careless])).text).toContain("would violate PodSecurity");
});
