/**
 * What the chart's two accounts may do, and what roles and admission policies refuse them, checked against an API
 * server.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Account, type Cluster, pullSecret, startCluster, systemNamespace } from "./start-cluster.ts";

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
const tokenOf = (name: string, account: string, namespace: string) => ({
  ...secret(name, namespace),
  type: "kubernetes.io/service-account-token",
  metadata: { name, namespace, annotations: { "kubernetes.io/service-account.name": account } },
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
    ...(["api", "operator"] as const).flatMap((account): Case[] =>
      [
        ...["exec", "attach", "portforward", "ephemeralcontainers", "binding"].map(
          (it) => `create pods --subresource=${it}`,
        ),
        ...["ephemeralcontainers", "resize", "status"].map((it) => `patch pods --subresource=${it}`),
        ...["deployments.apps", "daemonsets.apps", "statefulsets.apps", "replicasets.apps"].map((it) => `create ${it}`),
        ...["jobs.batch", "cronjobs.batch", "replicationcontrollers", "podtemplates"].map((it) => `create ${it}`),
        ...["serviceaccounts", "roles.rbac.authorization.k8s.io", "persistentvolumeclaims"].map((it) => `create ${it}`),
        "create serviceaccounts --subresource=token",
        "escalate clusterroles.rbac.authorization.k8s.io",
        "bind clusterroles.rbac.authorization.k8s.io/cluster-admin",
        "impersonate serviceaccounts",
        "update namespaces --subresource=finalize",
        "create nodes --subresource=proxy",
        "update validatingadmissionpolicies.admissionregistration.k8s.io",
        "create certificatesigningrequests.certificates.k8s.io",
      ].map((right) => [`to ${right}`, account, `auth can-i ${right} -n team`]),
    ),
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

// POD-7
// POOL-34
describe("stock of blank browsers", () => {
  const blank = (name: string, namespace?: string) => {
    const { spec, ...rest } = pool(name, namespace);
    return { ...rest, spec: { ...spec, blank: true } };
  };
  beforeAll(async () => {
    // What the chart gives the operator with onDemand.stock.
    const name = "makes-stock";
    const made = await cluster.kubectl("admin", "create -f -", [
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name },
        rules: [{ apiGroups: ["browserpool.dev"], resources: ["browserpools"], verbs: ["create"] }],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name: "browserpool-operator", namespace: systemNamespace }],
      },
    ]);
    expect(made.ok, made.text).toBe(true);
  });

  test("is made and changed by the operator in a project", async () => {
    for (const size of [1, 2]) {
      const wanted = { ...blank("stock"), spec: { size, blank: true } };
      const { ok, text } = await cluster.kubectl("operator", "apply --server-side -f -", [wanted]);
      expect(ok, text).toBe(true);
    }
  });

  test.each<[string, () => object, RegExp]>([
    ["no other pool is", () => pool("other"), /stock of blank browsers only/],
    ["none is made where no project is", () => blank("stock", "other"), /in namespaces of projects only/],
  ])("%s", async (_, made, message) => {
    const { ok, text } = await cluster.kubectl("operator", "create -f -", [made()]);
    expect(ok, text).toBe(false);
    expect(text).toMatch(message);
  });
});

describe("nothing that takes over a node or another account is made by either of them", () => {
  /** Pods that Pod Security does not look at: the policies alone refuse them. */
  const open = { "browserpool.dev/project": "open", "pod-security.kubernetes.io/enforce": "privileged" };
  beforeAll(async () => {
    const role = {
      rules: [{ apiGroups: [""], resources: ["pods", "pods/ephemeralcontainers", "pods/resize"], verbs: ["*"] }],
    };
    const subjects = ["browserpool-api", "browserpool-operator"].map((name) => ({
      ...{ kind: "ServiceAccount", name, namespace: systemNamespace },
    }));
    const rbac = "rbac.authorization.k8s.io";
    const made = await cluster.kubectl("admin", "apply -f -", [
      namespaceOf("open", open),
      { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "all-pods" }, ...role },
      {
        ...{
          apiVersion: `${rbac}/v1`,
          kind: "RoleBinding",
          metadata: { name: "all-pods", namespace: "open" },
          subjects,
        },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "all-pods" },
      },
    ]);
    expect(made.ok, made.text).toBe(true);
    const taken = await cluster.kubectl("operator", "create -f -", [podWith("good", { namespace: "open" })]);
    expect(taken.ok, taken.text).toBe(true);
  });

  const security = (fields: object) => ({
    container: { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, ...fields } },
  });
  const container = (name: string) => ({ name, image: "docker.io/library/alpine", securityContext: {} });
  const hostPath = {
    volumes: [
      { name: "tmp", hostPath: { path: "/" } },
      { name: "shm", emptyDir: {} },
    ],
  };
  const ours = (): string =>
    podWith("x", {}).spec.containers.map((it) => (it as { image?: string }).image ?? "")[0] ?? "";
  const repository = (): string => ours().replace(/[:@][^/]*$/, "");

  const pods: [what: string, fields: () => Parameters<typeof podWith>[1], message: RegExp][] = [
    ["a foreign image", () => ({ container: { image: "docker.io/library/alpine" } }), /run the image of/],
    ["an image of no name", () => ({ container: { image: `${repository()}-evil:1` } }), /run the image of/],
    ["an image below ours", () => ({ container: { image: `${repository()}/evil:1` } }), /run the image of/],
    ["ours as a registry", () => ({ container: { image: `${repository()}:5000/evil` } }), /run the image of/],
    [
      "a foreign init container",
      () => ({ spec: { initContainers: [{ ...container("a"), ...security({}).container }] } }),
      /run the image of/,
    ],
    ["the node's processes", () => ({ spec: { hostPID: true } }), /no namespace of their node/],
    ["the node's network", () => ({ spec: { hostNetwork: true } }), /no namespace of their node/],
    ["the node's IPC", () => ({ spec: { hostIPC: true } }), /no namespace of their node/],
    ["a port of the node", () => ({ container: { ports: [{ containerPort: 1, hostPort: 1 }] } }), /port of it/],
    ["the node's files", () => ({ spec: hostPath }), /nothing of their node/],
    [
      "privileges",
      () => security({ privileged: true, allowPrivilegeEscalation: true }),
      /not privileged|disallowed by/,
    ],
    // This API server takes privileged pods of nobody; the cluster tests try one that does.
    ["a capability", () => security({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } }), /no capabilities/],
    ["a small capability", () => security({ capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } }), /no capab/],
    ["the runtime's capabilities", () => security({ capabilities: {} }), /no capabilities/],
    ["a way to more rights", () => security({ allowPrivilegeEscalation: true }), /gain no rights/],
    ["no word on more rights", () => ({ container: { securityContext: {} } }), /gain no rights/],
    [
      "the whole /proc",
      () => ({ ...security({ procMount: "Unmasked" }), spec: { hostUsers: false } }),
      /gain no rights/,
    ],
    ["root", () => security({ runAsUser: 0 }), /not run as root/],
    ["a way to root", () => security({ runAsNonRoot: false }), /not run as root/],
    [
      "no word on root",
      () => ({ spec: { securityContext: { seccompProfile: { type: "RuntimeDefault" } } } }),
      /as root/,
    ],
    ["no seccomp profile", () => security({ seccompProfile: { type: "Unconfined" } }), /have a seccomp profile/],
    ["no word on seccomp", () => ({ spec: { securityContext: { runAsNonRoot: true } } }), /have a seccomp profile/],
    ["no AppArmor", () => security({ appArmorProfile: { type: "Unconfined" } }), /no other profile/],
    ["an SELinux type", () => security({ seLinuxOptions: { type: "spc_t" } }), /no other profile/],
  ];
  describe.each(["api", "operator"] as const)("a pod of the %s", (account) => {
    test.each(pods)("with %s", async (_, fields, message) => {
      const pod = podWith("x", { ...fields(), namespace: "open" });
      // The API has no labels to give that make it a browser; own-pods has its own tests.
      const { ok, text } = await cluster.kubectl(account, "create -f -", [pod]);
      expect(ok, text).toBe(false);
      expect(text).toMatch(message);
    });
  });

  test("another tag or digest of our image is a browser of another version", async () => {
    const pods = [`:other`, `@sha256:${"0".repeat(64)}`].map((version, n) =>
      podWith(`version-${n}`, { container: { image: `${repository()}${version}` }, namespace: "open" }),
    );
    const { ok, text } = await cluster.kubectl("operator", "create -f -", pods);
    expect(ok, text).toBe(true);
  });

  const image = `[{"op":"replace","path":"/spec/containers/0/image","value":"docker.io/library/alpine"}]`;
  const debug = { spec: { ephemeralContainers: [{ name: "debug", image: "docker.io/library/alpine" }] } };
  const added = JSON.stringify(debug);
  const enforce = "pod-security.kubernetes.io/enforce";
  const owners = { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "gone", uid }] };
  const patch = (metadata: object): string => `patch namespace team --type=merge -p ${JSON.stringify({ metadata })}`;

  test.each<[...Case, RegExp]>([
    [
      "another image of a browser",
      "operator",
      `patch pod good -n open --type=json -p ${image}`,
      () => [],
      /run the image/,
    ],
    [
      "an ephemeral container",
      "operator",
      `patch pod good -n open --subresource=ephemeralcontainers -p ${added}`,
      () => [],
      /image of|no ephemeral containers/,
    ],
    ...(["api", "operator"] as const).flatMap((account): [...Case, RegExp][] => [
      ...["privileged", "baseline"].map((level): [...Case, RegExp] => [
        `a project that enforces ${level}`,
        account,
        `label namespace team ${enforce}=${level} --overwrite`,
        () => [],
        /of a project's labels/,
      ]),
      [
        "a project that enforces nothing",
        account,
        `label namespace team ${enforce}-`,
        () => [],
        /of a project's labels/,
      ],
      [
        "a project that enforces an old version",
        account,
        `label namespace team ${enforce}-version=v1.20`,
        () => [],
        /of a project's labels/,
      ],
      ["a project with another label", account, "label namespace team a=b", () => [], /of a project's labels/],
      ["a project with an annotation of others", account, "annotate namespace team a=b", () => [], /annotations/],
      ["a project that its owner's end takes along", account, patch(owners), () => [], /owners/],
      ["a project that stays", account, patch({ finalizers: ["a.b/c"] }), () => [], /finalizers/],
    ]),
    [
      "a project without Pod Security",
      "api",
      "create -f -",
      () => [namespaceOf("p2", { "browserpool.dev/project": "p2", [enforce]: "privileged" })],
      /of a project's labels/,
    ],
    ["a namespace", "operator", "create -f -", () => [namespaceOf("p2", {})], /is forbidden|never makes or ends one/],
    [
      "a token of the operator, under the name of an API key",
      "api",
      "create -f -",
      () => [tokenOf("api-key-9", "browserpool-operator", systemNamespace)],
      /tokens of Kubernetes/,
    ],
    [
      "a token of an account of the project",
      "api",
      "create -f -",
      () => [tokenOf("token", "default", "team")],
      /tokens of Kubernetes/,
    ],
    [
      "a token of the API, under the name of its key",
      "operator",
      "create -f -",
      () => [tokenOf("signing-key", "browserpool-api", systemNamespace)],
      /tokens of Kubernetes/,
    ],
    [
      "a token of an account of the project, as an agent's key",
      "operator",
      "create -f -",
      () => [tokenOf("x-agent-key", "default", "team")],
      /tokens of Kubernetes|keys of agents only/,
    ],
  ])("%s (%s %s)", async (...[, account, args, objects, message]) => {
    const { ok, text } = await cluster.kubectl(account, args, objects?.() ?? []);
    expect(ok, text).toBe(false);
    expect(text).toMatch(message);
  });

  test("an ephemeral container that an administrator adds does not hinder the operator", async () => {
    const debugged = await cluster.kubectl(
      "admin",
      `patch pod good -n open --subresource=ephemeralcontainers -p ${added}`,
    );
    expect(debugged.ok, debugged.text).toBe(true);
    const { ok, text } = await cluster.kubectl("operator", "label pod good -n open browserpool.dev/leased=true");
    expect(ok, text).toBe(true);
  });

  const resize = (resources: object): string =>
    `patch pod good -n open --subresource=resize -p ${JSON.stringify({ spec: { containers: [{ name: "agent", resources }] } })}`;

  test.each([
    ["more memory", { limits: { memory: "12Gi" } }],
    ["memory that others ask for", { requests: { memory: "1100Mi" } }],
    ["a limit of the processor", { limits: { cpu: "64" } }],
  ])("a resize to %s (operator)", async (_, resources) => {
    const { ok, text } = await cluster.kubectl("operator", resize(resources));
    expect(ok, text).toBe(false);
    expect(text).toMatch(/what it asks for of the processor only/);
  });

  test("a resize of what a browser asks for of the processor is none of that (operator)", async () => {
    const { ok, text } = await cluster.kubectl("operator", resize({ requests: { cpu: "300m" } }));
    expect(ok, text).toBe(true);
  });
});

describe("a pull secret", () => {
  const login = (text: string) => Buffer.from(text).toString("base64");
  const pull = (name: string, text = "{}", namespace = "team") => ({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } },
    ...{ type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": login(text) } },
  });
  const apply = (secret: object) => cluster.kubectl("operator", "apply --server-side --force-conflicts -f -", [secret]);

  test("is copied and changed by the operator under its name, and read by it nowhere", async () => {
    expect((await apply(pull(pullSecret))).ok).toBe(true);
    expect((await apply(pull(pullSecret, '{"auths":{}}'))).ok).toBe(true);
    const { ok, text } = await cluster.kubectl("operator", `get secret ${pullSecret} -n team`);
    expect([ok, text]).toEqual([false, expect.stringContaining("Forbidden")]);
    await cluster.kubectl("admin", `delete secret ${pullSecret} -n team`);
  });

  test("is made under no other name", async () => {
    expect((await apply(pull("another"))).text).toContain("Forbidden");
    const { text } = await cluster.kubectl("operator", "create -f -", [pull("another")]);
    expect(text).toContain("makes keys of agents only");
  });

  test("takes no login's place, and shows none, even by a change of nothing", async () => {
    const owned = { ...secret(pullSecret, "team"), stringData: { password: "hunter2" } };
    expect((await cluster.kubectl("admin", "create -f -", [owned])).ok).toBe(true);
    const nothing = { apiVersion: "v1", kind: "Secret", metadata: { name: pullSecret, namespace: "team" } };
    for (const [object, why] of [
      [pull(pullSecret), "field is immutable"],
      [nothing, "copies pull secrets"],
    ] as const) {
      const { ok, text } = await apply(object);
      expect([ok, text]).toEqual([false, expect.stringContaining(why)]);
      expect(text).not.toContain(login("hunter2"));
    }
    await cluster.kubectl("admin", `delete secret ${pullSecret} -n team`);
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

// LEASE-65
test("nobody but the service makes a Browser whose name has the form of a session's id", async () => {
  const browser = (name: string) => ({
    apiVersion: "browserpool.dev/v1alpha1",
    kind: "Browser",
    metadata: { name, namespace: "team" },
    spec: {},
  });
  const refused = await cluster.kubectl("admin", "create -f -", [browser("abcdefghijklmnopqrstuvwx")]);
  expect(refused.ok).toBe(false);
  expect(refused.text).toContain("is that of a session");
  for (const [account, name] of [
    ["admin", "checkout"],
    ["api", "abcdefghijklmnopqrstuvw0"],
  ] as const) {
    const { ok, text } = await cluster.kubectl(account, "create -f -", [browser(name)]);
    expect(ok, text).toBe(true);
  }
});
