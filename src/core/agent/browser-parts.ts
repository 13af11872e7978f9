/**
 * What a browser gets before each start of Chromium, most of it by its setup: a wall, a folder of policies, further arguments. Everything is made
 * anew from what the operator sent, so nothing that a holder did stays in it.
 */
import { join } from "node:path";
import type { UnpackedExtension } from "../../features/extensions/agent/load-extensions.ts";
import { devToolsPort, inNamespace, socketsIn, wallFlags } from "../../features/network/agent/namespace.ts";
import type { Wall } from "../../features/network/agent/start-wall.ts";
import { policiesOf, releasePolicies, writePolicies } from "../../features/policies/agent/policy-files.ts";
import { profileFlags } from "../../features/profiles/agent/profile-flags.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { ReceivedSetup } from "./receive-setup.ts";

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
  /** The command that starts this program as the setup asks. `display`: its X server. */
  command(program: string, args: string[], display: string | undefined): { program: string; args: string[] };
  /** Of a browser with a network namespace. */
  wall: Wall | undefined;
  /** Gives back what other parts of this process remove: to be called when Chromium has ended. */
  release(): Promise<void>;
};

/** Writes the policies to where Chromium reads them. Returns the folder that it shall see there, if it is another one. */
const placePolicies = async (
  policies: Record<string, unknown>,
  { policyDir, ownPorts }: AgentConfig,
  folder: string,
): Promise<string | undefined> => {
  if (policyDir !== undefined) {
    await writePolicies(policyDir, policies);
    return undefined;
  }
  if (ownPorts === undefined) {
    // The API accepts none there (BROWSERPOOL_BROWSER_FEATURES).
    if (Object.keys(policies).length > 0) throw new Error("there is no folder of policies for this browser");
    return undefined;
  }
  const written = join(folder, "policies");
  await writePolicies(written, policies);
  return written;
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
  const written = await placePolicies(policies, config, folder);
  const release = async (): Promise<void> => {
    if (written !== undefined) await releasePolicies(written);
  };
  stack.defer(release);

  const profile = setup?.profile;
  if (received && profile)
    await (await import("../../features/profiles/agent/load-profile.ts")).loadProfile(
      received.archive(profile),
      { ref: profile, profileDir },
      signal,
    );
  // A profile in which nothing is saved yet is filled by the browser that begins it.
  const hasProfile = profile !== undefined || setup?.save_to !== undefined;
  const extensions = received?.setup.extensions.length
    ? await (await import("../../features/extensions/agent/unpack-extensions.ts")).unpackExtensions(
        received,
        join(folder, "extensions"),
        signal,
      )
    : [];
  const sharesMachine = config.ownPorts !== undefined;
  const sockets = setup?.network || sharesMachine ? socketsIn(short) : undefined;
  const wall = sockets
    ? stack.use(
        await (await import("../../features/network/agent/start-wall.ts")).startWall(
          sockets.proxy,
          setup?.network,
          config,
        ),
      )
    : undefined;
  const ownFiles = sharesMachine
    ? await (await import("../../features/network/agent/own-files.ts")).prepareOwnFiles(folder, short)
    : undefined;
  return {
    needsFullBrowser: Object.keys(policies).length > 0 || extensions.length > 0 || hasProfile,
    flags: [...(sockets ? wallFlags : resolverFlags(config)), ...(hasProfile ? profileFlags : [])],
    devToolsPort: sockets ? devToolsPort : 0,
    devToolsSocket: sockets?.devTools,
    extensions,
    wall,
    command(program, args, display) {
      const own = ownFiles?.({ policies: written, display }, program, args) ?? { program, args };
      return sockets ? inNamespace(sockets, own, { makesNamespaces: sharesMachine }) : own;
    },
    release,
  };
};
