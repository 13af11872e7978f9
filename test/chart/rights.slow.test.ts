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

const owner = (uid: string) => ({
  apiVersion: "browserpool.dev/v1alpha1",
  kind: "BrowserPool",
  name: "known",
  uid,
  controller: true,
});

/** A pod without anything of the service, but for the metadata given. */
const plainPod = (name: string, metadata: object = {}, namespace = "team") => {
  const { spec } = podWith("plain", { namespace });
  const containers = spec.containers.map((it) => ({ ...it, env: [] }));
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, ...metadata }, spec: { ...spec, containers } };
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
    [
      "hold a pool where no project is yet, to say what it waits for",
      "operator",
      `patch browserpool known -n other --type=merge -p {"metadata":{"finalizers":["a.b/c"]}}`,
    ],
    ["keep the objects of a project", "operator", "apply --server-side -n team -f -", () => cluster.projectObjects],
  ])("%s (%s %s)", async (_, account, args, objects = () => []) => {
    const { ok, text } = await cluster.kubectl(account, args, objects());
    expect(ok, text).toBe(true);
  });
});

const uid = "00000000-0000-4000-8000-000000000000";
const looksOwn = {
  labels: { "browserpool.dev/pool": uid, "browserpool.dev/owner": "BrowserPool", own: "" },
  annotations: { "browserpool.dev/config-hash": "x" },
  ownerReferences: [owner(uid)],
};

// POD-6
describe("pods that look like the operator's", () => {
  beforeAll(async () => {
    const made = await cluster.kubectl("operator", "create -f -", [
      { ...podWith("own", {}), metadata: { name: "own", namespace: "team", ...looksOwn } },
      { ...agentKey("own-agent-key"), metadata: { name: "own-agent-key", namespace: "team", ...looksOwn } },
    ]);
    expect(made.ok, made.text).toBe(true);
    const others = await cluster.kubectl("member", "create -f -", [plainPod("plain"), plainPod("plain", {}, "other")]);
    expect(others.ok, others.text).toBe(true);
  });

  const patch = (metadata: object): string => `--type=merge -p ${JSON.stringify({ metadata })}`;
  const merge = (pod: string, metadata: object): string => `patch pod ${pod} -n team ${patch(metadata)}`;
  const label = { labels: { "browserpool.dev/pool": uid } };
  const binding = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "plain", namespace: "team", annotations: looksOwn.annotations },
    target: { apiVersion: "v1", kind: "Node", name: "node" },
  };
  const bindings = "create --raw /api/v1/namespaces/team/pods/plain/binding -f -";
  const labels = /sets labels of browserpool\.dev/;
  const notes = /sets annotations of browserpool\.dev/;
  const owners = /makes its objects the owners/;
  const keys = /makes keys of agents/;

  test.each<[...Case, RegExp]>([
    ["with a pool's label", "member", "create -f -", () => [plainPod("x", label)], labels],
    ["with it in another namespace", "member", "create -f -", () => [plainPod("x", label, "other")], labels],
    ["with it, by an administrator", "admin", "create -f -", () => [plainPod("x", label)], labels],
    [
      "with it, by the api",
      "admin",
      `create --as=system:serviceaccount:${systemNamespace}:browserpool-api --as-group=system:masters -f -`,
      () => [plainPod("x", label)],
      labels,
    ],
    [
      "with an annotation",
      "member",
      "create -f -",
      () => [plainPod("x", { annotations: looksOwn.annotations })],
      notes,
    ],
    ["with a pool as owner", "member", "create -f -", () => [plainPod("x", { ownerReferences: [owner(uid)] })], owners],
    ["labelled later", "member", "label pod plain -n team browserpool.dev/leased=true", () => [], labels],
    ["labelled by a status", "admin", `${merge("plain", label)} --subresource=status`, () => [], labels],
    ["annotated by a binding", "admin", bindings, () => [binding], notes],
    ["owned later", "member", merge("plain", { ownerReferences: [owner(uid)] }), () => [], owners],
    [
      "that are, with another label",
      "member",
      "label pod own -n team browserpool.dev/pool=y --overwrite",
      () => [],
      labels,
    ],
    ["that are, without their mark", "member", "label pod own -n team browserpool.dev/owner-", () => [], labels],
    ["that are, with another owner", "member", merge("own", { ownerReferences: [owner("other")] }), () => [], owners],
    [
      "that are, owned but not controlled",
      "member",
      merge("own", { ownerReferences: [{ ...owner(uid), controller: false }] }),
      () => [],
      owners,
    ],
    ["by their key", "member", "create -f -", () => [agentKey("x-agent-key")], keys],
    [
      "by another label of a key",
      "member",
      "label secret own-agent-key -n team browserpool.dev/pool=y --overwrite",
      () => [],
      labels,
    ],
  ])("are refused: %s (%s %s)", async (...[, account, args, objects, message]) => {
    const { ok, text } = await cluster.kubectl(account, args, objects?.() ?? []);
    expect(ok, text).toBe(false);
    expect(text).toMatch(message);
  });

  const status = JSON.stringify({ status: { phase: "Running", podIP: "10.0.0.9" } });
  test.each<Case>([
    ["a kubelet writes their status", "admin", `patch pod own -n team --subresource=status --type=merge -p ${status}`],
    [
      "a scheduler binds them",
      "admin",
      "create --raw /api/v1/namespaces/team/pods/own/binding -f -",
      () => [{ ...binding, metadata: { name: "own", namespace: "team" } }],
    ],
    [
      "a drain evicts them",
      "member",
      "create --raw /api/v1/namespaces/team/pods/own/eviction -f -",
      () => [{ apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "own", namespace: "team" } }],
    ],
    ["other labels are free", "member", "label pod own -n team team=a"],
    ["other pods are free", "member", "label pod plain -n team team=a"],
    ["other Secrets are free", "member", "create -f -", () => [secret("members", "team")]],
    ["the operator marks them", "operator", "label pod own -n team browserpool.dev/leased=true"],
    ["the garbage collector takes their owner away", "admin", merge("own", { ownerReferences: null })],
    ["whoever may deletes them", "member", "delete pod,secret -n team -l own --wait=false"],
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
    [
      "to size a pool where no project is",
      "operator",
      `patch browserpool known -n other --type=merge -p ${sized}`,
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
