/** What `browserpool doctor --cluster` says of the installation: whole, and broken in one place after the other. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { type Lane, type Phase, projectNamespace, systemNamespace } from "../lane.ts";
import { systemPods } from "./system-pods.ts";
import { until } from "./until.ts";
import { withoutPolicies } from "./without-policies.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");

/** Its findings that are not ok, with a key that may do everything. */
const wrong = ({ cluster, stack, signal }: Lane): Promise<Finding[]> =>
  new Promise((done, fail) => {
    const env = {
      ...process.env,
      KUBECONFIG: cluster.kubeconfig,
      KERNEL_BASE_URL: stack.url,
      KERNEL_API_KEY: stack.api_key,
    };
    const args = [main, "doctor", "--cluster", "-o", "json"];
    execFile(process.execPath, args, { env, signal }, (error, stdout, stderr) => {
      try {
        const findings = (JSON.parse(stdout) as Finding[]).filter(({ state }) => state !== "ok");
        const hasProblem = findings.some(({ state }) => state === "problem");
        if (hasProblem !== (error?.code === 1)) throw new Error(`ended with ${error?.code ?? 0}`);
        done(findings);
      } catch (cause) {
        fail(new Error(`doctor: ${stdout}${stderr}`, { cause }));
      }
    });
  });

/** Rejects when doctor does not find these, each with a way out, or when it finds other problems. */
const expectProblems = async (lane: Lane, expected: Record<string, RegExp>): Promise<string> => {
  const found = await wrong(lane);
  const problems = found.filter(({ state }) => state === "problem");
  const isFound = ([name, says]: [string, RegExp]): boolean =>
    found.some((one) => one.name === name && says.test(one.says) && one.wayOut);
  const names = Object.keys(expected);
  if (!Object.entries(expected).every(isFound) || !problems.every(({ name }) => names.includes(name)))
    throw new Error(JSON.stringify(found, undefined, 1));
  const named = found.filter(({ name }) => names.includes(name));
  return named.map(({ name, says }) => `${name}: ${says}`).join("; ");
};

const own = ["--namespace", systemNamespace];
const ofProject = ["--namespace", projectNamespace];

/** Resolves when all of the release is ready again. */
const whole = async ({ kubectl }: Lane): Promise<void> => {
  for (const what of ["statefulset/browserpool-redis", "deployment/browserpool-api", "deployment/browserpool-operator"])
    await kubectl("rollout", "status", what, ...own, "--timeout=120s");
};

/** Where the Service of the store leads to; the store listens on 7070. */
const storeLeadsTo = ({ kubectl }: Lane, targetPort: number): Promise<string> => {
  const patch = JSON.stringify({ spec: { ports: [{ port: 7070, targetPort }] } });
  return kubectl("patch", "service/store", "--namespace=browserpool-test-store", `--patch=${patch}`);
};

/** Whether a new connection is taken. */
const isListening = ({ hostname, port }: URL): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host: hostname, port: Number(port || 80), timeout: 2000 });
    const end = (answer: boolean) => () => {
      socket.destroy();
      done(answer);
    };
    socket.on("connect", end(true)).on("error", end(false)).on("timeout", end(false));
  });

/** `hurt`: breaks something, resolves when it shows. `mend`: takes that back. */
type Break = {
  what: string;
  hurt(lane: Lane): Promise<unknown>;
  mend(lane: Lane): Promise<unknown>;
  problems: Record<string, RegExp>;
};

const bindingFile = ({ folder }: Lane): string => join(folder, "binding.json");
const binding = "validatingadmissionpolicybinding/browserpool-browser-pods";

const breaks: Break[] = [
  {
    what: "an admission policy without its binding",
    async hurt(lane) {
      await writeFile(bindingFile(lane), await lane.kubectl("get", binding, "--output=json"));
      await lane.kubectl("delete", binding);
    },
    mend: (lane) => lane.kubectl("create", `--filename=${bindingFile(lane)}`),
    problems: { "admission policies": /browserpool-browser-pods/ },
  },
  {
    what: "an image that nobody can pull",
    async hurt(lane) {
      await lane.kubectl("set", "image", "deployment/browserpool-api", "api=registry.invalid/none:1", ...own);
      const isWaiting = async () =>
        (await systemPods(lane, "api")).some(({ status }) =>
          status?.containerStatuses?.some(({ state }) => /ImagePull/.test(state?.waiting?.reason ?? "")),
        );
      await until("a pod waits for its image", isWaiting, { signal: lane.signal });
    },
    mend: (lane) => lane.kubectl("rollout", "undo", "deployment/browserpool-api", ...own),
    problems: { pods: /api \(registry\.invalid\/none:1\): (ErrImagePull|ImagePullBackOff)/ },
  },
  {
    what: "no Redis",
    async hurt(lane) {
      await lane.kubectl("scale", "statefulset/browserpool-redis", "--replicas=0", ...own);
      const isAway = async () => !(await isListening(new URL(lane.stack.url)));
      await until("the Service has no api that is ready", isAway, { signal: lane.signal });
    },
    mend: (lane) => lane.kubectl("scale", "statefulset/browserpool-redis", "--replicas=1", ...own),
    problems: {
      deployments: /browserpool-api 0 of 2.*browserpool-redis 0 of 0/,
      service: /does not answer|unavailable/,
    },
  },
  {
    what: "a quota that leaves no room for browsers",
    async hurt({ kubectl, stack, signal }) {
      await kubectl("create", "quota", "test-full", ...ofProject, "--hard=pods=1");
      await stack.kernel.browserPools.create({
        name: "test-full",
        size: 4,
        fill_rate_per_minute: 6000,
        headless: true,
      });
      const isRefused = async (): Promise<boolean> =>
        (await kubectl("get", "browserpools", ...ofProject, "--output=json")).includes("exceeded quota");
      await until("a pool says so", isRefused, { signal });
    },
    async mend({ kubectl, stack }) {
      await stack.kernel.browserPools.delete("test-full", { force: true });
      await kubectl("delete", "quota", "test-full", ...ofProject);
    },
    problems: { pools: /exceeded quota: test-full/, quotas: /all 1 of pods are used/, browser: /exceeded quota/ },
  },
  {
    what: "a store of blobs that does not answer",
    async hurt(lane) {
      await storeLeadsTo(lane, 7071);
      // Connections that are open would go on.
      await lane.kubectl("rollout", "restart", "deployment/browserpool-api", ...own);
      await whole(lane);
    },
    mend: (lane) => storeLeadsTo(lane, 7070),
    problems: { "blob store": /unavailable/ },
  },
];

export const doctor: Phase = {
  name: "doctor",
  summary: "what browserpool doctor says of the installation, whole and broken",
  async run(lane, check) {
    await check("it finds nothing wrong", async () => {
      const found = await wrong(lane);
      if (found.length > 0) throw new Error(JSON.stringify(found, undefined, 1));
    });
    await check("without NetworkPolicies it names what a browser reaches", () =>
      withoutPolicies(lane, [systemNamespace, projectNamespace], () =>
        expectProblems(lane, {
          isolation: /metadata, API server, port ops of api, port ops of operator, port redis of redis, agent of/,
        }),
      ),
    );
    for (const { what, hurt, mend, problems } of breaks)
      await check(what, async () => {
        try {
          await hurt(lane);
          return await expectProblems(lane, problems);
        } finally {
          await mend(lane);
          await whole(lane);
        }
      });
    await check("mended, nothing is wrong again", async () => {
      const found = await wrong(lane);
      if (found.length > 0) throw new Error(JSON.stringify(found, undefined, 1));
    });
  },
};
