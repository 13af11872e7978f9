/**
 * Who may import whom. Requests go `http → services → leases | kube`, reconcile loops `controllers → kube`; the two meet in
 * data only. A place is a folder or a file of src/; the rule of the longest place that a file is in counts.
 */

/** `may`: other places that are imported. `types`: places of which only types are. A place may always import itself. */
export type ImportRule = { may: readonly string[]; types?: readonly string[] };

/** Every place of src/. errors.ts, sensitive.ts and the Logger type of log.ts are open to all of them. */
export const importRules: Readonly<Record<string, ImportRule>> = {
  "main.ts": {
    may: [
      "../package.json",
      "agent/agent-config.ts",
      "cmd",
      "config.ts",
      "local/banner.ts",
      "log.ts",
      "probe/probe-config.ts",
    ],
  },
  cmd: { may: ["*"] },
  "config.ts": { may: [] },
  "errors.ts": { may: [] },
  "listening-port.ts": { may: [] },
  "log.ts": { may: [] },
  "await-with.ts": { may: [] },
  "retry.ts": { may: [] },
  audit: { may: [] },
  blobs: { may: ["await-with.ts"], types: ["config.ts"] },
  metrics: { may: [] },
  kube: { may: ["await-with.ts", "retry.ts"] },
  redis: { may: ["retry.ts"] },
  net: { may: [] },
  process: { may: [] },
  cdp: { may: [] },
  "extension-zip": { may: [] },
  "profile-archive": { may: [] },
  protocol: { may: [] },
  resources: { may: [], types: ["kube"] },
  domain: { may: ["resources"], types: ["protocol"] },
  secrets: { may: ["domain", "kube", "resources"] },
  leases: { may: ["await-with.ts", "protocol", "redis"] },
  controllers: {
    may: ["domain", "kube", "leases", "protocol", "redis", "registry", "resources", "retry.ts", "secrets"],
    types: ["blobs", "metrics"],
  },
  bootstrap: { may: ["kube", "resources", "services/api-keys/api-key-secret.ts"], types: ["services/api-keys"] },
  services: {
    may: [
      "await-with.ts",
      "domain",
      "extension-zip",
      "fill",
      "kube",
      "leases",
      "net",
      "protocol",
      "redis",
      "registry",
      "resources",
      "retry.ts",
      "secrets",
    ],
    types: ["blobs", "config.ts", "metrics"],
  },
  http: {
    may: ["../package.json", "domain/client-address.ts", "domain/ip-range.ts", "resources", "services"],
    types: ["audit", "config.ts", "leases/records.ts", "redis/idempotent-answers.ts"],
  },
  "http/ops": { may: ["http/middleware"], types: ["config.ts", "metrics"] },
  gateway: {
    may: [
      "cdp",
      "domain/client-address.ts",
      "http/audit-call.ts",
      "http/client-address.ts",
      "http/middleware",
      "http/refuse-socket.ts",
      "protocol/agent-proof.ts",
      "services",
    ],
    types: ["audit"],
  },
  agent: {
    may: [
      "await-with.ts",
      "cdp",
      "domain",
      "extension-zip",
      "listening-port.ts",
      "net",
      "process",
      "profile-archive",
      "protocol",
      "resources",
    ],
  },
  fill: { may: ["cdp", "domain", "resources"] },
  registry: { may: ["await-with.ts", "domain", "kube", "resources", "retry.ts"] },
  probe: { may: ["cdp"] },
  local: { may: ["bootstrap", "kube", "listening-port.ts", "process", "services/api-keys/api-key-secret.ts"] },
};

/** The places that may import an npm package, its types too. A package that is not here has no home yet. */
export const packageHomes: Readonly<Record<string, readonly string[]>> = {
  "@aws-sdk/client-s3": ["blobs"],
  "@fastify/busboy": ["http"],
  "@kubernetes/client-node": ["kube"],
  express: ["http"],
  ioredis: ["redis"],
  "ipaddr.js": ["domain"],
  jose: ["protocol"],
  "lru-cache": ["protocol", "services"],
  otpauth: ["domain"],
  pino: ["log.ts"],
  "prom-client": ["metrics"],
  "devtools-protocol": ["cdp", "fill"],
  "puppeteer-core": ["registry"],
  "swagger-ui-dist": ["http"],
  tar: ["profile-archive"],
  tldts: ["domain"],
  undici: ["kube", "leases"],
  ws: ["cdp"],
  yauzl: ["extension-zip"],
  yaml: ["controllers/yaml-file.ts", "local", "registry"],
  zod: ["*"],
};
