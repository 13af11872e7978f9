import { expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import { whyUnsupported } from "../../../local/kubelet/supported-pod.ts";
import { buildPod } from "./pod.ts";
import { cpuOf } from "./pod-resources.ts";
import { checkPodTemplate, type PodTemplate } from "./pod-template.ts";

const owner = (spec = {}) => ({ ...aPool(spec), apiVersion: "browserpool.dev/v1alpha1", kind: "BrowserPool" });

const build = (template?: PodTemplate, spec = {}) =>
  buildPod(owner(spec), { suffix: "bcdfghjk" }, { image: "browser:1", agentPublicKey: "key", template });

const check = (value: unknown) => checkPodTemplate(value, "template.yaml");

const agentOf = (pod: ReturnType<typeof build>) => pod.spec?.containers.find(({ name }) => name === "agent");

test("without a template a pod has only what makes it the browser of its pool", () => {
  const pod = build();
  expect(Object.keys(pod.spec ?? {}).sort()).toEqual([
    "automountServiceAccountToken",
    "containers",
    "enableServiceLinks",
    "restartPolicy",
    "terminationGracePeriodSeconds",
  ]);
  expect(pod.spec?.terminationGracePeriodSeconds).toBe(600);
});

test("a pod has what the template says of it, and a process can run it still", () => {
  const template = check({
    metadata: { labels: { team: "web" }, annotations: { note: "mine" } },
    spec: {
      securityContext: { runAsNonRoot: true },
      terminationGracePeriodSeconds: 900,
      volumes: [{ name: "shm", emptyDir: { medium: "Memory" } }],
      containers: [
        {
          name: "agent",
          resources: { limits: { memory: "2Gi" } },
          securityContext: { allowPrivilegeEscalation: false },
          volumeMounts: [{ name: "shm", mountPath: "/dev/shm" }],
          env: [{ name: "BROWSERPOOL_CHROMIUM_SANDBOX", value: "true" }],
        },
      ],
    },
  });
  const pod = build(template, { headless: true });
  expect(pod.metadata.labels).toMatchObject({ team: "web", "browserpool.dev/pool": "pool-uid" });
  expect(pod.metadata.annotations).toMatchObject({ note: "mine", "browserpool.dev/pool-generation": "1" });
  expect(pod.spec).toMatchObject({
    securityContext: { runAsNonRoot: true },
    terminationGracePeriodSeconds: 900,
    volumes: [{ name: "shm" }],
  });
  expect(agentOf(pod)).toMatchObject({
    image: "browser:1",
    resources: { limits: { memory: "2Gi" } },
    securityContext: { allowPrivilegeEscalation: false },
    volumeMounts: [{ mountPath: "/dev/shm" }],
  });
  expect(agentOf(pod)?.env).toContainEqual({ name: "BROWSERPOOL_CHROMIUM_SANDBOX", value: "true" });
  expect(whyUnsupported(pod)).toBeUndefined();
});

test("what the operator sets itself no template changes", () => {
  const own = build();
  const template = check({
    metadata: { labels: { "browserpool.dev/pool": "other" }, annotations: { "browserpool.dev/config-hash": "other" } },
    spec: {
      restartPolicy: "Always",
      automountServiceAccountToken: true,
      containers: [
        {
          name: "agent",
          image: "other",
          args: ["other"],
          ports: [{ containerPort: 1 }],
          readinessProbe: { tcpSocket: { port: 1 } },
          env: [{ name: "BROWSERPOOL_POD_UID", value: "other" }],
        },
      ],
    },
  });
  // By its hash a pod tells that it was made with another template.
  const byHash = "browserpool.dev/template-hash";
  const built = build(template);
  expect(built.metadata.annotations?.[byHash]).not.toBe(own.metadata.annotations?.[byHash]);
  for (const { metadata } of [built, own]) delete metadata.annotations?.[byHash];
  expect(built).toEqual(own);
});

test("other containers run beside the agent", () => {
  const { spec } = build(check({ spec: { containers: [{ name: "logs", image: "logs:1" }] } }));
  expect(spec?.containers.map(({ name }) => name)).toEqual(["agent", "logs"]);
});

test("a region adds to where all browsers may run", () => {
  const template = check({
    spec: {
      nodeSelector: { pool: "browsers", zone: "any" },
      tolerations: [{ key: "browsers" }],
      affinity: { podAntiAffinity: {} },
    },
    regions: {
      "eu-west": {
        nodeSelector: { zone: "eu-west-1a" },
        tolerations: [{ key: "eu" }],
        affinity: { nodeAffinity: {} },
        topologySpreadConstraints: [{ topologyKey: "zone" }],
      },
    },
  });
  expect(build(template, { region: "eu-west" }).spec).toMatchObject({
    nodeSelector: { pool: "browsers", zone: "eu-west-1a" },
    tolerations: [{ key: "browsers" }, { key: "eu" }],
    affinity: { podAntiAffinity: {}, nodeAffinity: {} },
    topologySpreadConstraints: [{ topologyKey: "zone" }],
  });
  const elsewhere = build(template, { region: "us-west" }).spec;
  expect(elsewhere).toMatchObject({ nodeSelector: { pool: "browsers", zone: "any" }, tolerations: [{}] });
  expect(elsewhere).not.toHaveProperty("topologySpreadConstraints");
});

test.each([
  ["an unknown field of a pod's spec", { spec: { nodeSelectr: {} } }, /template\.yaml: spec: .*nodeSelectr/],
  ["a field of the wrong type", { spec: { tolerations: {} } }, /spec\.tolerations: .*array/],
  [
    "a nameless variable",
    { spec: { containers: [{ name: "agent", env: [{}] }] } },
    /spec\.containers\.0\.env\.0\.name/,
  ],
  ["a region that there is not", { regions: { mars: {} } }, /regions\.?.*mars/],
  ["a field that is no template's", { image: "x" }, /image/],
  ["no mapping", ["x"], /the document: .*object/],
])("a template with %s is refused by name", (_, value, message) => {
  expect(() => check(value)).toThrow(message);
});

// POOL-21, POOL-PATCH-13
test("a headful browser has the memory of its pool, a headless one that of the template", () => {
  const template = check({
    spec: {
      containers: [{ name: "agent", resources: { requests: { cpu: "1" }, limits: { memory: "2Gi", cpu: "4" } } }],
    },
  });
  const resources = (spec: object) => agentOf(build(template, spec))?.resources;
  expect(resources({ headless: true })).toEqual({ requests: { cpu: "1" }, limits: { memory: "2Gi", cpu: "4" } });
  expect(resources({})).toEqual({ requests: { cpu: "1" }, limits: { memory: "8Gi", cpu: "4" } });
  expect(resources({ memory: "16GiB" })).toEqual({ requests: { cpu: "1" }, limits: { memory: "16Gi", cpu: "4" } });
  expect(agentOf(build())?.resources).toEqual({ limits: { memory: "8Gi" } });
});

// POOL-21
test("the limits that the installation sets for headful browsers win", () => {
  const template = check({ memory: { "8GiB": "3Gi" } });
  const limits = (spec: object) => agentOf(build(template, spec))?.resources?.limits;
  expect(limits({})).toEqual({ memory: "3Gi" });
  expect(limits({ memory: "16GiB" })).toEqual({ memory: "16Gi" });
  expect(limits({ headless: true })).toBeUndefined();
});

// POOL-21
test("the requests that the installation sets for headful browsers win, and headless ones have that of all", () => {
  const agent = { name: "agent", resources: { requests: { cpu: "1", memory: "512Mi" }, limits: { memory: "2Gi" } } };
  const template = check({ spec: { containers: [agent] }, memoryRequests: { "8GiB": "1Gi", "16GiB": "3Gi" } });
  const resources = (spec: object) => agentOf(build(template, spec))?.resources;
  expect(resources({})).toEqual({ requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "8Gi" } });
  expect(resources({ memory: "16GiB" })?.requests).toEqual({ cpu: "1", memory: "3Gi" });
  expect(resources({ headless: true })).toEqual(agent.resources);
});

const withAgent = (resources: object, more = {}) => ({ spec: { containers: [{ name: "agent", resources }] }, ...more });

// POOL-21
test.each<[string, object, RegExp | undefined]>([
  [
    "its limit, by itself",
    { memoryRequests: { "8GiB": "9Gi" } },
    /memoryRequests\.8GiB: 9Gi is above 8Gi.*memory\.8GiB/,
  ],
  [
    "the limit that is set",
    { memoryRequests: { "16GiB": "2Gi" }, memory: { "16GiB": "2000Mi" } },
    /memoryRequests\.16GiB: 2Gi is above 2000Mi/,
  ],
  ["that of headless ones", withAgent({ requests: { memory: "3Gi" }, limits: { memory: "2Gi" } }), /limits\.memory/],
  [
    "that of headful ones, which have it, too",
    withAgent({ requests: { memory: "3Gi" } }, { memory: { "8GiB": "2Gi" } }),
    /memory\.8GiB/,
  ],
  ["that of the processor", withAgent({ requests: { cpu: 2 }, limits: { cpu: "1500m" } }), /2 is above 1500m/],
  ["that of browsers in use", withAgent({ requests: { cpu: "250m" } }, { idleCpu: "1" }), /idleCpu: 1 is above 250m/],
  ["what is no quantity", { memoryRequests: { "8GiB": "much" } }, /memoryRequests\.8GiB: much is no quantity/],
  ["nothing", withAgent({ requests: { cpu: 1, memory: "2Gi" }, limits: { cpu: "1", memory: "2048Mi" } }), undefined],
])("a request above %s is refused by name", (_, template, message) => {
  if (message) expect(() => check(template)).toThrow(message);
  else expect(() => check(template)).not.toThrow();
});

test("with idleCpu a pod asks for that much, and says what it asks for in use; an on-demand browser is always in use", () => {
  const agent = { name: "agent", resources: { requests: { cpu: 1, memory: "512Mi" }, limits: { cpu: 2 } } };
  const template = check({ spec: { containers: [agent] }, memoryRequests: { "8GiB": "1Gi" }, idleCpu: "50m" });
  const pod = build(template);
  expect(agentOf(pod)?.resources?.requests).toEqual({ cpu: "50m", memory: "1Gi" });
  expect([cpuOf(pod, false), cpuOf(pod, true)]).toEqual([
    { present: "50m", wanted: "50m" },
    { present: "50m", wanted: "1" },
  ]);
  const onDemand = buildPod(
    { ...owner(), kind: "Browser" },
    { suffix: "bcdfghjk" },
    { image: "browser:1", agentPublicKey: "key", template },
  );
  expect(agentOf(onDemand)?.resources?.requests).toEqual({ cpu: "1", memory: "1Gi" });
  expect(cpuOf(onDemand, false)).toBeUndefined();
  expect(cpuOf(build(check({ spec: { containers: [agent] } })), true)).toBeUndefined();
});

test.each<[string, object, RegExp]>([
  [
    "without a request for browsers in use",
    withAgent({}),
    /idleCpu: needs spec\.containers \(agent\) resources\.requests\.cpu/,
  ],
  [
    "where that is the limit, so that a resize could change the QoS class",
    withAgent({ requests: { cpu: "1" }, limits: { cpu: "1000m" } }),
    /idleCpu: needs .*limits\.cpu above/,
  ],
])("idleCpu is refused %s", (_, template, message) => {
  expect(() => check({ ...template, idleCpu: "50m" })).toThrow(message);
});

// BROWSER-23
test("only a browser with a GPU asks for one, and runs where the installation has them", () => {
  const template = check({
    spec: {
      nodeSelector: { pool: "browsers" },
      tolerations: [{ key: "browsers" }],
      containers: [{ name: "agent", resources: { limits: { memory: "2Gi" } }, volumeMounts: [{ name: "shm" }] }],
    },
    gpu: {
      resource: "nvidia.com/gpu",
      nodeSelector: { gpu: "yes" },
      tolerations: [{ key: "nvidia.com/gpu" }],
      runtimeClassName: "nvidia",
    },
  });
  const pool = owner();
  const settings = { image: "browser:1", agentPublicKey: "key", template };
  const pod = buildPod({ ...pool, spec: { ...pool.spec, gpu: true } }, { suffix: "bcdfghjk" }, settings);
  expect(pod.spec).toMatchObject({
    nodeSelector: { pool: "browsers", gpu: "yes" },
    tolerations: [{ key: "browsers" }, { key: "nvidia.com/gpu" }],
    runtimeClassName: "nvidia",
  });
  expect(agentOf(pod)).toMatchObject({
    resources: { limits: { memory: "8Gi", "nvidia.com/gpu": "1" } },
    volumeMounts: [{ name: "shm" }],
  });
  const without = build(template);
  expect(JSON.stringify(without)).not.toContain("nvidia");
  expect(without.spec?.nodeSelector).toEqual({ pool: "browsers" });
});

test("a template for GPUs names the resource", () => {
  expect(() => check({ gpu: { runtimeClassName: "nvidia" } })).toThrow(/gpu.resource/);
});
