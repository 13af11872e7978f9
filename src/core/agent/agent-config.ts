import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { isIPv4 } from "node:net";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { BrowserConfig } from "../protocol/agent-api.ts";
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

const fallbacks = {
  BROWSERPOOL_TERMINATION_LOG: "/dev/termination-log",
  BROWSERPOOL_CHROMIUM: "chromium",
  BROWSERPOOL_CHROMIUM_HEADLESS: "chromium-headless-shell",
  BROWSERPOOL_XVFB: "Xvfb",
  BROWSERPOOL_FFMPEG: "ffmpeg",
};

type Env = Record<string, string | undefined>;

/**
 * Reads variables, and notes what is wrong with them. By hand, because Chromium starts only after that: a library for it
 * takes longer to load than all else that a start needs.
 */
const createReader = (env: Env) => {
  const problems: string[] = [];
  const wrong = (name: string, why: string): undefined => void problems.push(`${name}: ${why}`);
  /** Undefined for a variable that is not there, and for one that is no such text, which is noted. */
  const optional = (name: string, pattern: RegExp, what: string): string | undefined => {
    const value = env[name];
    if (value === undefined || pattern.test(value)) return value;
    return wrong(name, `is not ${what}`);
  };
  return {
    problems,
    wrong,
    optional,
    path: (name: string) => optional(name, /^\//, "an absolute path"),
    /** It is there, or has a fallback, and is not empty. */
    text(name: string): string {
      const value = env[name] ?? (fallbacks as Env)[name];
      if (!value) wrong(name, "is required");
      return value ?? "";
    },
    isTrue(name: string): boolean | undefined {
      const value = optional(name, /^(true|false)$/, "true or false");
      return value === undefined ? undefined : value === "true";
    },
    list(name: string, by: string, pattern = /^/, what = ""): string[] | undefined {
      return optional(name, pattern, what)?.split(by).filter(Boolean);
    },
    /** Undefined for what `parse` gives nothing for, or throws at. */
    parsed<T>(name: string, parse: (text: string) => T | undefined, what: string): T | undefined {
      const value = env[name];
      if (value === undefined) return wrong(name, "is required");
      try {
        return parse(value) ?? wrong(name, `is not ${what}`);
      } catch {
        return wrong(name, `is not ${what}`);
      }
    },
  };
};

const readPublicKey = (base64: string): KeyObject | undefined => {
  const key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
  return key.asymmetricKeyType === "ed25519" ? key : undefined;
};

const readPort = (text: string): number | undefined =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;

/** Where systems have what belongs to Chromium, when the program is their launcher. */
const systemFolders = ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/usr/lib/chromium-browser"];

/** Beside the program, or where systems have it. */
const findPack = (program: string): string | undefined => {
  const own = isAbsolute(program) && existsSync(program) ? [dirname(realpathSync(program))] : [];
  return [...own, ...systemFolders].map((folder) => join(folder, "locales/en-US.pak")).find((file) => existsSync(file));
};

const pick = (env: Record<string, string | undefined>, names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/**
 * Reads the pod's variables. Throws one error that names every bad variable and repeats no value. What the browser's
 * own settings are is left to `checkBrowserConfig`.
 */
export const readAgentConfig = (env: Env): AgentConfig => {
  const { problems, wrong, optional, path, text, isTrue, list, parsed } = createReader(env);
  const browser = parsed("BROWSERPOOL_BROWSER", (json): BrowserConfig => JSON.parse(json), "JSON");
  const publicKey = parsed(
    "BROWSERPOOL_AGENT_PUBLIC_KEY",
    readPublicKey,
    "the base64 of an Ed25519 public key (SPKI DER)",
  );
  const agentKey = parsed("BROWSERPOOL_AGENT_KEY", readAgentKey, "the key of an agent");
  const port = parsed("BROWSERPOOL_AGENT_PORT", readPort, "a port number");
  const graceSeconds = optional("BROWSERPOOL_AGENT_GRACE_SECONDS", /^\d{1,9}$/, "a whole number of seconds") ?? "0";
  const paths = /^(\/[^:]+(:\/[^:]+)*)?$/;
  const dataDir = env.BROWSERPOOL_AGENT_DATA_DIR || tmpdir();
  const exampleAddress = env.BROWSERPOOL_TEST_EXAMPLE_ADDRESS;
  if (exampleAddress !== undefined && !isIPv4(exampleAddress))
    wrong("BROWSERPOOL_TEST_EXAMPLE_ADDRESS", "is not an IPv4 address");
  // Kubernetes gives this to every container, whatever else a pod says.
  if (exampleAddress !== undefined && env.KUBERNETES_SERVICE_HOST !== undefined)
    wrong("BROWSERPOOL_TEST_EXAMPLE_ADDRESS", "is for tests outside of clusters only");
  const config = {
    address: text("BROWSERPOOL_AGENT_ADDRESS"),
    podUid: text("BROWSERPOOL_POD_UID"),
    podName: text("BROWSERPOOL_POD_NAME"),
    graceMs: Math.min(Number(graceSeconds) * 1000, longestTimerMs),
    terminationLog: text("BROWSERPOOL_TERMINATION_LOG"),
    dataDir,
    filesDir: path("BROWSERPOOL_AGENT_FILES_DIR") ?? join(dataDir, "tmp"),
    scratchDirs:
      list("BROWSERPOOL_AGENT_SCRATCH_DIRS", ":", paths, "a list of absolute paths, separated by colons") ?? [],
    policyDir: path("BROWSERPOOL_POLICY_DIR"),
    localesDir: path("BROWSERPOOL_LOCALES_DIR"),
    localePack: path("BROWSERPOOL_LOCALE_PACK") ?? findPack(text("BROWSERPOOL_CHROMIUM")),
    ownPorts: list(
      "BROWSERPOOL_OWN_PORTS",
      ",",
      /^(\d{1,5}(,\d{1,5})*)?$/,
      "a list of ports, separated by commas",
    )?.map(Number),
    dnsServers: list("BROWSERPOOL_DNS_SERVERS", ","),
    exampleAddress,
    programs: {
      chromium: text("BROWSERPOOL_CHROMIUM"),
      chromiumHeadless: text("BROWSERPOOL_CHROMIUM_HEADLESS"),
      xvfb: text("BROWSERPOOL_XVFB"),
      ffmpeg: text("BROWSERPOOL_FFMPEG"),
      chromedriver: path("BROWSERPOOL_CHROMEDRIVER"),
    },
    processes: isTrue("BROWSERPOOL_PROCESSES") ?? false,
    sandbox: isTrue("BROWSERPOOL_CHROMIUM_SANDBOX") ?? process.getuid?.() !== 0,
    inheritedEnv: pick(env, inheritedNames),
  };
  if (browser === undefined || publicKey === undefined || agentKey === undefined || port === undefined || problems[0])
    throw new Error(`the agent cannot start: ${problems.join("; ")}`);
  return { ...config, browser, publicKey, agentKey, port };
};
