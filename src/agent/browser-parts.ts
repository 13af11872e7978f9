/**
 * What a browser gets before each start of Chromium, most of it by its setup: a wall, a folder of policies, further arguments. Everything is made
 * anew from what the operator sent, so nothing that a holder did stays in it.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { mayUnshare } from "../process/may-unshare.ts";
import type { NetworkSetup } from "../protocol/browser-setup.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { UnpackedExtension } from "./load-extensions.ts";
import { policiesOf, releasePolicies, writePolicies } from "./policy-files.ts";
import { profileFlags } from "./profile-flags.ts";
import type { ReceivedSetup } from "./receive-setup.ts";
import { devToolsPort, inNamespace, type NamespaceOptions, socketsIn, wallFlags } from "./wall/namespace.ts";

/** The folders of one run of Chromium. `short`: one whose path leaves room for the names of sockets. */
type RunFolders = { folder: string; short: string; profileDir: string };

export type BrowserParts = {
  /** Whether only the full browser knows what the setup asks for: the headless shell takes no policies, extensions and profiles. */
  needsFullBrowser: boolean;
  flags: string[];
  devToolsPort: number;
  /** The socket that leads to DevTools; undefined when they listen on this machine's loopback. */
  devToolsSocket: string | undefined;
  /** To be loaded once Chromium is up, in this order. */
  extensions: UnpackedExtension[];
  /** The command that starts this program as the setup asks. */
  command(program: string, args: string[]): { program: string; args: string[] };
  /** Of a browser with a wall. Returns the function by which its connections follow these rules, and all that are open are cut. */
  prepareNetwork: ((network: NetworkSetup) => () => void) | undefined;
  /** Gives back what other parts of this process remove: to be called when Chromium has ended. */
  release(): Promise<void>;
};

/** Whether this machine has policies for every Chromium, and a browser can see a folder of its own in their place. */
const canHidePolicies = async (): Promise<boolean> => {
  const policies = await readdir("/etc/chromium").catch(() => []);
  // The trial runs a program, and every start of a browser would wait for it.
  return policies.length > 0 && mayUnshare("mount");
};

/** Where the policies were written, and the folder that Chromium shall see as /etc/chromium, if it can't see them otherwise. */
const placePolicies = async (
  policies: Record<string, unknown>,
  config: AgentConfig,
  folder: string,
): Promise<{ written: string | undefined; etc: string | undefined }> => {
  if (config.policyDir !== undefined) {
    await writePolicies(config.policyDir, policies);
    return { written: undefined, etc: undefined };
  }
  // Where this can't be, the API accepts no policies (BROWSERPOOL_BROWSER_FEATURES).
  if (Object.keys(policies).length === 0 && !(await canHidePolicies())) return { written: undefined, etc: undefined };
  const etc = join(folder, "etc");
  const written = join(etc, "policies");
  await mkdir(etc, { mode: 0o700 });
  await writePolicies(written, policies);
  return { written, etc };
};

/** How a Chromium without a wall does it. */
const resolverFlags = ({ exampleAddress }: AgentConfig): string[] =>
  exampleAddress === undefined ? [] : [`--host-resolver-rules=MAP *.example ${exampleAddress}`];

/**
 * Prepares one start of Chromium. What it starts ends with `stack`. Most browsers need neither archives nor a wall, so their code is loaded
 * by those that do: a start waits for it.
 */
export const prepareParts = async (
  config: AgentConfig,
  received: ReceivedSetup | undefined,
  { folder, short, profileDir, signal }: RunFolders & { signal: AbortSignal },
  stack: AsyncDisposableStack,
): Promise<BrowserParts> => {
  const setup = received?.setup;
  const policies = setup ? policiesOf(setup) : {};
  const { written, etc } = await placePolicies(policies, config, folder);
  const release = async (): Promise<void> => {
    if (written !== undefined) await releasePolicies(written);
  };
  stack.defer(release);

  const profile = setup?.profile;
  if (received && profile)
    await (await import("./load-profile.ts")).loadProfile(
      received.archive(profile),
      { ref: profile, profileDir },
      signal,
    );
  // A profile in which nothing is saved yet is filled by the browser that begins it.
  const hasProfile = profile !== undefined || setup?.save_to !== undefined;
  const extensions = received?.setup.extensions.length
    ? await (await import("./unpack-extensions.ts")).unpackExtensions(received, join(folder, "extensions"), signal)
    : [];
  const sockets = setup?.network && socketsIn(short);
  const wall =
    setup?.network && sockets
      ? stack.use(await (await import("./wall/start-wall.ts")).startWall(sockets.proxy, setup.network, config))
      : undefined;
  const options: NamespaceOptions = { sockets, policies: etc };
  return {
    needsFullBrowser: Object.keys(policies).length > 0 || extensions.length > 0 || hasProfile,
    flags: [...(sockets ? wallFlags : resolverFlags(config)), ...(hasProfile ? profileFlags : [])],
    devToolsPort: sockets ? devToolsPort : 0,
    devToolsSocket: sockets?.devTools,
    extensions,
    prepareNetwork: wall?.prepare,
    command: (program, args) =>
      sockets || etc !== undefined ? inNamespace(options, program, args) : { program, args },
    release,
  };
};
