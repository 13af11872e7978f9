/** Who may import whom, where layers.ts leaves it open. A place is a folder, a file or a pattern of files of src/. */

/** What each feature uses of another one, and why it can't do without. */
export const betweenFeatures: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  console: {
    extensions: "a page shows what answers say of extensions",
    logs: "a session's page has its logs",
    proxies: "a page shows what answers say of proxies",
    recordings: "a session's page has its recordings",
    sites: "pages show what is known of sites, and name configurations as answers do",
    telemetry: "a session's story is told by its telemetry; a page shows where it is sent",
    vaults: "pages show vaults, items, logins and credentials",
  },
  code: { network: "code in local mode sees of the machine what its browser does" },
  processes: {
    code: "a process is kept apart as code is",
    network: "a process sees of the system what a browser in local mode does",
  },
  network: { proxies: "the wall sends a browser's traffic through the parent proxies" },
  recordings: { "live-view": "a recording is the picture that the live view shows" },
  sites: {
    proxies: "a site's recipe names a kind of proxy",
  },
  webdriver: {
    code: "a driver is kept apart as code is",
    "dev-tools": "a driver asks for what Chromium tells at its port",
  },
  vaults: { profiles: "a connection makes the profile that its logins are kept in" },
};

/**
 * `files`: whom it concerns. They import nothing of `not`; of `only`, nothing else. `types`: whether types are free.
 */
type Restriction = {
  files: readonly string[];
  not?: readonly string[];
  only?: readonly string[];
  types?: true;
  why: string;
};

/** The program of the agent, which main.ts starts. */
const agentPrograms = [
  "cmd/agent.ts",
  "core/agent/agent-ends.ts",
  "cmd/serve-browser.ts",
  "cmd/stop-signals.ts",
  "cmd/wait-for-setup.ts",
];

/** What an agent loads when a holder needs it, and not with its programs: most sessions need none of it. */
export const loadedLater = {
  programs: agentPrograms,
  patterns: [
    "features/*/calls.ts",
    "features/live-view/**",
    "features/profiles/archive/**",
    "features/recordings/agent/recording.ts",
    "features/telemetry/agent/capture.ts",
  ],
};

/** What an agent loads once Chromium's process runs: callers wait for all that it loads before (ADR 0077). */
export const loadedBesideChromium = {
  programs: ["cmd/agent-process.ts"],
  patterns: [
    "cmd/serve-browser.ts",
    "core/agent/agent-http.ts",
    "core/agent/answering-chromium.ts",
    "core/agent/browser-changes.ts",
    "core/protocol/agent-api.ts",
    "core/protocol/browser-setup.ts",
    "features/network/agent/start-wall.ts",
    "platform/base/log.ts",
    "platform/cdp/**",
    "platform/kinds/**",
  ],
};

export const restrictions: readonly Restriction[] = [
  {
    files: ["core/api/**", "core/http/**", "features/**/routes.ts", "features/**/*-routes.ts"],
    not: ["platform/kube", "platform/redis", "core/leases"],
    types: true,
    why: "what answers requests calls use cases",
  },
  {
    files: [...agentPrograms, "core/agent/**", "features/*/agent/**"],
    only: [
      ...agentPrograms,
      "core/agent",
      "core/model",
      "core/protocol",
      "features/*/agent",
      "features/code/calls.ts",
      "features/extensions/calls.ts",
      "features/extensions/zip",
      "features/computer/calls.ts",
      "features/curl/calls.ts",
      "features/dev-tools/calls.ts",
      "features/files/calls.ts",
      "features/files/session-path.ts",
      "features/processes/calls.ts",
      "features/profiles/archive",
      "features/proxies/rules/proxy-authorization.ts",
      "features/recordings/webm",
      "features/sites/judge",
      "features/sites/rules/target.ts",
      "features/sites/visit",
      "features/telemetry/telemetry-event.ts",
      "features/webdriver/calls.ts",
      "features/webdriver/webdriver-answer.ts",
      "features/webmcp/calls.ts",
      "platform/addresses",
      "platform/base",
      "platform/cdp",
      "platform/kinds",
      "platform/net",
      "platform/process",
      "platform/rules",
      "platform/zip",
    ],
    types: true,
    why: "what each browser's agent loads costs memory in each pod",
  },
  {
    files: ["**/reconcile.ts", "**/reconcile-*.ts", "**/controller.ts"],
    not: ["core/api", "core/http", "core/sessions", "core/gateway"],
    why: "requests and reconcile loops meet in data only",
  },
  {
    files: ["core/leases/**", "core/protocol/**", "core/model/**"],
    not: ["platform/kube"],
    types: true,
    why: "a lease, a message and a rule know no API server",
  },
  {
    files: ["cli/**"],
    only: ["cli", "cmd", "local", "core/config", "platform/base", "platform/cdp", "platform/kube"],
    why: "commands use a service by its HTTP API, as everybody does, start programs, and look at what is in a cluster",
  },
  {
    files: ["local/**"],
    only: ["local", "core/bootstrap", "core/api-keys", "platform"],
    why: "local mode starts the programs, and knows nothing of what they do",
  },
];

/** The places that may import an npm package, its types too. A package that is not here has no home yet. */
export const packageHomes: Readonly<Record<string, readonly string[]>> = {
  // A module whose name is computed: this one follows the imports of the agent.
  "?": ["cmd/compile-agent.ts"],
  "@aws-sdk/client-s3": ["platform/blobs"],
  "@bomb.sh/tab": ["cli"],
  acorn: ["features/code/executor"],
  "@fastify/busboy": ["core/http", "core/agent", "features/files/agent"],
  "@kubernetes/client-node": ["platform/kube"],
  chokidar: ["features/files/agent"],
  "@preact/signals": ["features/console"],
  "@tanstack/virtual-core": ["features/console"],
  "@opentelemetry/otlp-transformer": ["features/telemetry/export", "platform/tracing"],
  commander: ["cli"],
  "eventsource-parser": ["features/console"],
  express: ["core/api", "core/http", "features"],
  ioredis: ["platform/redis"],
  "ipaddr.js": ["platform/addresses"],
  jose: ["core/protocol", "features/vaults/encryption"],
  "lru-cache": ["core", "features"],
  otpauth: ["features/vaults"],
  pino: ["platform/base"],
  "playwright-core": ["features/code/executor"],
  preact: ["features/console"],
  "prom-client": ["core/metrics", "platform/metrics"],
  "chromium-bidi": ["features/webdriver/agent"],
  "devtools-protocol": [
    "features/curl/agent",
    "features/live-view/agent",
    "features/vaults/fill",
    "features/webmcp/agent",
    "platform/cdp",
  ],
  rolldown: ["features/console"],
  "swagger-ui-dist": ["core/api"],
  tar: ["features/profiles/archive"],
  tldts: ["features", "platform/addresses"],
  undici: ["platform/kube", "core/leases", "features"],
  ws: ["features/code/executor", "features/webdriver/agent", "features/live-view/agent", "platform/cdp"],
  yauzl: ["platform/zip"],
  yaml: ["cli", "features/console", "features/sites", "features/vaults", "local", "platform/kinds", "platform/kube"],
  yazl: ["features/files/agent"],
  zod: ["*"],
};
