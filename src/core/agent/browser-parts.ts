/**
 * What a browser gets before each start of Chromium, most of it by its setup: a wall, a folder of policies, further
 * arguments. Everything is made anew from what the operator sent, so nothing that a holder did stays in it.
 */
import { join } from "node:path";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import type { NetworkSetup } from "../protocol/browser-setup.ts";
import type { AgentConfig } from "./agent-config.ts";
import { placeLocales, type ShownFolder } from "./chromium-location.ts";
import { policiesOf, releasePolicies, writePolicies } from "./policy-files.ts";
import type { ReceivedSetup } from "./receive-setup.ts";

/** The folders of one run of Chromium. `short`: one whose path leaves room for the names of sockets. */
type RunFolders = { folder: string; short: string; profileDir: string };

type Command = { program: string; args: string[] };

/** What is around a browser with a network namespace. */
export type Wall = {
  /**
   * Returns the function by which connections follow these rules. Those that are open are cut; with `keepsAllowed`,
   * for rules that lead nowhere else, only those to hosts that are not allowed any more.
   */
  prepare(network: NetworkSetup, options: { keepsAllowed: boolean }): () => void;
  /**
   * Where the last connection to this host went, which Chromium does not know: it sees its proxy alone. Undefined: a
   * proxy knows, or nobody.
   */
  addressOf(host: string): string | undefined;
};

/**
 * One start of Chromium. `policies`: the folder that it shall see as that of its policies, if it is another one than
 * they are in.
 */
type ChromiumStart = RunFolders & {
  config: AgentConfig;
  received: ReceivedSetup | undefined;
  policies: string | undefined;
  /** The same for its locales. */
  locales: ShownFolder | undefined;
  signal: AbortSignal;
  /** Ends with Chromium. */
  stack: AsyncDisposableStack;
};

/** What a feature adds to a start of Chromium. */
type StartPart = {
  /** Whether only the full browser knows it: the headless shell takes no policies, extensions and profiles. */
  needsFullBrowser?: boolean;
  flags?: readonly string[];
  /** Where DevTools listen, and the socket that leads there; left out, on this machine's loopback. */
  devTools?: { port: number; socket: string };
  /** Called when Chromium's process runs. Until there is a wall, nothing leaves the namespace. */
  startWall?(): Promise<Wall>;
  /** Where the browser sees the folder of its session's files; left out, where it is. */
  filesAt?: string;
  /** The command that starts this program. `display`: its X server. */
  command?(program: string, args: string[], display: string | undefined): Command;
  /** Called once Chromium is up, before anyone else reaches it. */
  onUp?(cdp: CdpConnection): Promise<unknown>;
};

/** Prepares what a feature adds. A browser that it adds nothing to must not load its code. */
export type PreparePart = (start: ChromiumStart) => Promise<StartPart>;

export type BrowserParts = {
  needsFullBrowser: boolean;
  flags: string[];
  devToolsPort: number;
  /** The socket that leads to DevTools; undefined when they listen on this machine's loopback. */
  devToolsSocket: string | undefined;
  command: NonNullable<StartPart["command"]>;
  startWall: StartPart["startWall"];
  filesAt: string;
  /** To be called once Chromium is up. */
  onUp(cdp: CdpConnection): Promise<void>;
  /** Gives back what other parts of this process remove: to be called when Chromium has ended. */
  release(): void;
};

/**
 * Writes the policies to where Chromium reads them. Returns the folder that it shall see there, if it is another one.
 */
const placePolicies = (
  policies: Record<string, unknown>,
  { policyDir, ownPorts }: AgentConfig,
  folder: string,
): string | undefined => {
  if (policyDir !== undefined) {
    writePolicies(policyDir, policies);
    return undefined;
  }
  if (ownPorts === undefined) {
    // The API accepts none there (BROWSERPOOL_BROWSER_FEATURES).
    if (Object.keys(policies).length > 0) throw new Error("there is no folder of policies for this browser");
    return undefined;
  }
  const written = join(folder, "policies");
  writePolicies(written, policies);
  return written;
};

/** How a Chromium without a wall does it. */
const resolverFlags = ({ exampleAddress }: AgentConfig): string[] =>
  exampleAddress === undefined ? [] : [`--host-resolver-rules=MAP *.example ${exampleAddress}`];

/** Prepares one start of Chromium. What it starts ends with `stack`. */
export const prepareParts = async (
  prepares: readonly PreparePart[],
  { config, received, folder, stack, ...start }: Omit<ChromiumStart, "policies" | "locales">,
): Promise<BrowserParts> => {
  const policies = received ? policiesOf(received.setup) : {};
  const written = placePolicies(policies, config, folder);
  const release = (): void => {
    if (written !== undefined) releasePolicies(written);
  };
  stack.defer(release);
  const locales = await placeLocales(config.browser.location?.locale, config, folder);
  const parts: StartPart[] = [];
  for (const prepare of prepares)
    parts.push(await prepare({ ...start, config, received, folder, stack, policies: written, locales }));
  const devTools = parts.find((part) => part.devTools)?.devTools;
  return {
    needsFullBrowser: Object.keys(policies).length > 0 || parts.some((part) => part.needsFullBrowser),
    flags: [...(devTools ? [] : resolverFlags(config)), ...parts.flatMap(({ flags = [] }) => flags)],
    devToolsPort: devTools?.port ?? 0,
    devToolsSocket: devTools?.socket,
    startWall: parts.find((part) => part.startWall)?.startWall,
    filesAt: parts.find((part) => part.filesAt)?.filesAt ?? config.filesDir,
    command: parts.find((part) => part.command)?.command ?? ((program, args) => ({ program, args })),
    async onUp(cdp) {
      for (const part of parts) await part.onUp?.(cdp);
    },
    release,
  };
};
