import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { BrowserConfig } from "../protocol/agent-api.ts";
import { readAgentKey } from "../protocol/agent-key.ts";

/** All settings of an agent. */
export type AgentConfig = {
  browser: BrowserConfig;
  /** Ed25519 key that checks the tokens of callers. */
  publicKey: KeyObject;
  /** Proves to callers that this is the pod's agent. */
  agentKey: KeyObject;
  /** Where the agent's HTTP server listens; port 0 picks a free one. */
  address: string;
  port: number;
  podUid: string;
  podName: string;
  /** The pod's grace period, from SIGTERM to SIGKILL, ms; 0 when the pod does not say it. */
  graceMs: number;
  /** File for the `Termination`; in a pod it exists already and is written in place. */
  terminationLog: string;
  /** Folder in which the agent makes the browser's own folder and the `process-groups` file. */
  dataDir: string;
  /** The folder of the session's files (files-dir.ts), on the disk of `dataDir`. */
  filesDir: string;
  /** Folders of this agent alone that its browser can write to; a reset of the browser empties them. */
  scratchDirs: string[];
  /**
   * The folder, of this agent alone, that Chromium sees as /etc/chromium/policies; undefined: the machine has none for
   * it.
   */
  policyDir: string | undefined;
  /** The folder that Chromium has its locales in, if this agent makes it; undefined: the program's own. */
  localesDir: string | undefined;
  /** The file with the English texts of the full browser; undefined where it is not found. */
  localePack: string | undefined;
  /**
   * The service's ports on this machine. Given, the machine is not the browser's own (local mode): it gets namespaces
   * in which it sees its own files, processes and policies, and reaches the machine's loopback but for these ports.
   */
  ownPorts: readonly number[] | undefined;
  /**
   * The DNS servers that a walled browser's names are asked of, `address` or `address:port`; undefined: the machine's.
   */
  dnsServers: string[] | undefined;
  /**
   * For tests only: the address to which all names below `.example`, which nobody owns (RFC 2606), lead; undefined:
   * they lead nowhere.
   */
  exampleAddress: string | undefined;
  /** `chromedriver`: undefined where there is none. */
  programs: {
    chromium: string;
    chromiumHeadless: string;
    xvfb: string;
    ffmpeg: string;
    chromedriver: string | undefined;
  };
  /** Whether holders may run processes beside the browser. */
  processes: boolean;
  /** Whether Chromium keeps its own sandbox, which root cannot use. */
  sandbox: boolean;
  /** The only variables of the agent's environment that the browser's processes inherit. */
  inheritedEnv: Record<string, string>;
};

/** Longest delay of a timer in Node, ms: 24 days. A longer one fires at once. */
const longestTimerMs = 2 ** 31 - 1;

const inheritedNames = ["PATH", "LANG", "LC_ALL", "TZ"];

const required = { error: (issue: { input?: unknown }) => (issue.input === undefined ? "is required" : undefined) };

const browserJson = z
  .string(required)
  .transform((text, context) => {
    try {
      const parsed: unknown = JSON.parse(text);
      return parsed;
    } catch {
      context.addIssue({ code: "custom", message: "is not JSON" });
      return z.NEVER;
    }
  })
  .pipe(BrowserConfig);

const publicKey = z.string(required).transform((base64, context) => {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // the issue below covers this, too
  }
  context.addIssue({ code: "custom", message: "is not the base64 of an Ed25519 public key (SPKI DER)" });
  return z.NEVER;
});

const agentKey = z.string(required).transform((text, context) => {
  const key = readAgentKey(text);
  if (key) return key;
  context.addIssue({ code: "custom", message: "is not the key of an agent" });
  return z.NEVER;
});

const AgentEnv = z
  .object({
    BROWSERPOOL_BROWSER: browserJson,
    BROWSERPOOL_AGENT_PUBLIC_KEY: publicKey,
    BROWSERPOOL_AGENT_KEY: agentKey,
    BROWSERPOOL_AGENT_ADDRESS: z.string(required).min(1),
    BROWSERPOOL_AGENT_PORT: z
      .string(required)
      .regex(/^\d{1,5}$/, "is not a port number")
      .transform(Number)
      .pipe(z.int().max(65535)),
    BROWSERPOOL_POD_UID: z.string(required).min(1),
    BROWSERPOOL_POD_NAME: z.string(required).min(1),
    BROWSERPOOL_AGENT_GRACE_SECONDS: z
      .string()
      .regex(/^\d{1,9}$/, "is not a whole number of seconds")
      .default("0")
      .transform((seconds) => Math.min(Number(seconds) * 1000, longestTimerMs)),
    BROWSERPOOL_TERMINATION_LOG: z.string().min(1).default("/dev/termination-log"),
    BROWSERPOOL_AGENT_DATA_DIR: z.string().min(1).default(tmpdir),
    BROWSERPOOL_AGENT_FILES_DIR: z.string().startsWith("/").optional(),
    BROWSERPOOL_AGENT_SCRATCH_DIRS: z
      .string()
      .regex(/^(\/[^:]+(:\/[^:]+)*)?$/, "is not a list of absolute paths, separated by colons")
      .default("")
      .transform((list) => list.split(":").filter((path) => path !== "")),
    BROWSERPOOL_POLICY_DIR: z.string().startsWith("/").optional(),
    BROWSERPOOL_LOCALES_DIR: z.string().startsWith("/").optional(),
    BROWSERPOOL_LOCALE_PACK: z.string().startsWith("/").optional(),
    BROWSERPOOL_OWN_PORTS: z
      .string()
      .regex(/^(\d{1,5}(,\d{1,5})*)?$/, "is not a list of ports, separated by commas")
      .transform((list) => list.split(",").filter(Boolean).map(Number))
      .optional(),
    BROWSERPOOL_DNS_SERVERS: z
      .string()
      .transform((list) => list.split(",").filter(Boolean))
      .optional(),
    BROWSERPOOL_TEST_EXAMPLE_ADDRESS: z.ipv4().optional(),
    // Kubernetes gives it to every container, whatever else a pod says.
    KUBERNETES_SERVICE_HOST: z.string().optional(),
    BROWSERPOOL_CHROMIUM: z.string().min(1).default("chromium"),
    BROWSERPOOL_CHROMIUM_HEADLESS: z.string().min(1).default("chromium-headless-shell"),
    BROWSERPOOL_XVFB: z.string().min(1).default("Xvfb"),
    BROWSERPOOL_FFMPEG: z.string().min(1).default("ffmpeg"),
    BROWSERPOOL_CHROMEDRIVER: z.string().startsWith("/").optional(),
    BROWSERPOOL_CHROMIUM_SANDBOX: z.enum(["true", "false"]).optional(),
    BROWSERPOOL_PROCESSES: z.enum(["true", "false"]).default("false"),
  })
  .superRefine((env, context) => {
    if (env.BROWSERPOOL_TEST_EXAMPLE_ADDRESS !== undefined && env.KUBERNETES_SERVICE_HOST !== undefined)
      context.addIssue({
        code: "custom",
        path: ["BROWSERPOOL_TEST_EXAMPLE_ADDRESS"],
        message: "is for tests outside of clusters only",
      });
  });

/** Where systems have what belongs to Chromium, when the program is their launcher. */
const systemFolders = ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/usr/lib/chromium-browser"];

/** Beside the program, or where systems have it. */
const findPack = (program: string): string | undefined => {
  const own = isAbsolute(program) && existsSync(program) ? [dirname(realpathSync(program))] : [];
  return [...own, ...systemFolders].map((folder) => join(folder, "locales/en-US.pak")).find((file) => existsSync(file));
};

const pick = (env: Record<string, string | undefined>, names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/** Reads the pod's variables. Throws one error that names every bad variable and repeats no value. */
export const readAgentConfig = (env: Record<string, string | undefined>): AgentConfig => {
  const read = AgentEnv.safeParse(env);
  if (!read.success) {
    const problems = read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`the agent cannot start: ${problems.join("; ")}`);
  }
  const sandbox = read.data.BROWSERPOOL_CHROMIUM_SANDBOX;
  return {
    browser: read.data.BROWSERPOOL_BROWSER,
    publicKey: read.data.BROWSERPOOL_AGENT_PUBLIC_KEY,
    agentKey: read.data.BROWSERPOOL_AGENT_KEY,
    address: read.data.BROWSERPOOL_AGENT_ADDRESS,
    port: read.data.BROWSERPOOL_AGENT_PORT,
    podUid: read.data.BROWSERPOOL_POD_UID,
    podName: read.data.BROWSERPOOL_POD_NAME,
    graceMs: read.data.BROWSERPOOL_AGENT_GRACE_SECONDS,
    terminationLog: read.data.BROWSERPOOL_TERMINATION_LOG,
    dataDir: read.data.BROWSERPOOL_AGENT_DATA_DIR,
    filesDir: read.data.BROWSERPOOL_AGENT_FILES_DIR ?? join(read.data.BROWSERPOOL_AGENT_DATA_DIR, "tmp"),
    scratchDirs: read.data.BROWSERPOOL_AGENT_SCRATCH_DIRS,
    policyDir: read.data.BROWSERPOOL_POLICY_DIR,
    localesDir: read.data.BROWSERPOOL_LOCALES_DIR,
    localePack: read.data.BROWSERPOOL_LOCALE_PACK ?? findPack(read.data.BROWSERPOOL_CHROMIUM),
    ownPorts: read.data.BROWSERPOOL_OWN_PORTS,
    dnsServers: read.data.BROWSERPOOL_DNS_SERVERS,
    exampleAddress: read.data.BROWSERPOOL_TEST_EXAMPLE_ADDRESS,
    programs: {
      chromium: read.data.BROWSERPOOL_CHROMIUM,
      chromiumHeadless: read.data.BROWSERPOOL_CHROMIUM_HEADLESS,
      xvfb: read.data.BROWSERPOOL_XVFB,
      ffmpeg: read.data.BROWSERPOOL_FFMPEG,
      chromedriver: read.data.BROWSERPOOL_CHROMEDRIVER,
    },
    processes: read.data.BROWSERPOOL_PROCESSES === "true",
    sandbox: sandbox === undefined ? process.getuid?.() !== 0 : sandbox === "true",
    inheritedEnv: pick(env, inheritedNames),
  };
};
