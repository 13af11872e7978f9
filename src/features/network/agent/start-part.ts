import type { PreparePart } from "../../../core/agent/browser-parts.ts";
import { filesRoot } from "../../../core/agent/files-dir.ts";
import { devToolsPort, inNamespace, socketsIn, wallFlags } from "./namespace.ts";

/**
 * Puts a wall around a browser with network rules; in local mode around each, which gets files of its own there, too.
 */
export const networkPart: PreparePart = async ({ config, received, folder, short, policies, locales, stack }) => {
  const network = received?.setup.network;
  const sharesMachine = config.ownPorts !== undefined;
  if (!network && !sharesMachine) return {};
  const sockets = socketsIn(short);
  const places = { folder, temp: short, filesDir: config.filesDir };
  const seesOwn = sharesMachine ? (await import("./own-files.ts")).ownFiles(places) : undefined;
  return {
    flags: wallFlags,
    devTools: { port: devToolsPort, socket: sockets.devTools },
    startWall() {
      const wall = import("./start-wall.ts").then(({ startWall }) => startWall(sockets.proxy, network, config));
      stack.defer(async () => (await wall.catch(() => undefined))?.[Symbol.asyncDispose]());
      return wall;
    },
    ...(sharesMachine && { filesAt: filesRoot }),
    command(program, args, display) {
      const own = seesOwn?.({ policies, locales, display }, program, args) ?? { program, args };
      return inNamespace(sockets, own, { makesNamespaces: sharesMachine });
    },
  };
};
