/**
 * How chromedriver is started: in namespaces of its own, with no network but a loopback on which nobody else is. Two
 * forwarders run inside:
 *
 *   the agent    ──► the socket of the driver   ──socat──► 127.0.0.1:9515, chromedriver
 *   chromedriver ──► 127.0.0.1:9222             ──socat──► the socket of the agent's bridge (dev-tools-bridge.ts)
 *
 * So no page reaches it, and it reaches no page's network, and no process. In local mode it also has files of its own.
 */
import { basename, dirname, join } from "node:path";
import type { AgentConfig } from "../../../../core/agent/agent-config.ts";
import { filesRoot } from "../../../../core/agent/files-dir.ts";
import { apartOnMachine, bounded, ownNamespaces, withoutRights } from "../../../code/agent/apart.ts";

/** The sockets of a driver, in one folder. */
export type DriverSockets = { driver: string; devTools: string };

const driverPort = 9515;
const devToolsPort = 9222;

/** Where chromedriver finds the browser. */
export const devToolsAddress = `127.0.0.1:${devToolsPort}`;

/** A driver takes some 20 MB; its files are in memory alone. */
const bounds = { dataBytes: 512 * 1024 ** 2, fileBytes: 64 * 1024 ** 2 };

const mostConnections = 64;

/**
 * $1 and $2 are the sockets; then the program, which is started when the way to the browser is there: it tries once.
 * What it says goes to its standard error.
 */
const forwardAndRun = `
driver=$1 devtools=$2
shift 2
socat TCP-LISTEN:${devToolsPort},bind=127.0.0.1,fork,reuseaddr,nodelay,max-children=${mostConnections} "UNIX-CONNECT:$devtools" &
socat "UNIX-LISTEN:$driver,fork,mode=600,backlog=64,max-children=${mostConnections}" TCP:127.0.0.1:${driverPort},nodelay &
socat -u OPEN:/dev/null TCP:127.0.0.1:${devToolsPort},retry=250,interval=0.02
exec "$@" >&2
`;

/** $1: `forwardAndRun`; then what that takes. */
const inPod = `
set -e
run=$1
shift
ip link set lo up
exec ${withoutRights.join(" ")} sh -c "$run" sh "$@"
`;

const apartInPod = [...ownNamespaces, "sh", "-c", inPod, "sh", forwardAndRun];

/** Where it sees the folder of its sockets in local mode. */
const socketsAt = "/run/browserpool";

const onMachine = (program: string, { driver }: DriverSockets, filesDir: string): string[] => [
  ...apartOnMachine(program, ["--bind", filesDir, filesRoot, "--bind", dirname(driver), socketsAt]),
  ...["sh", "-c", forwardAndRun, "sh"],
];

/** The command for this agent. The driver is up when it says so on its standard error. */
export const driverCommand = (
  program: string,
  sockets: DriverSockets,
  { filesDir, ownPorts }: Pick<AgentConfig, "filesDir" | "ownPorts">,
): { program: string; args: string[]; readyPattern: RegExp } => {
  const [apart, seen] =
    ownPorts === undefined
      ? [apartInPod, sockets]
      : [
          onMachine(program, sockets, filesDir),
          { driver: join(socketsAt, basename(sockets.driver)), devTools: join(socketsAt, basename(sockets.devTools)) },
        ];
  const driver = [seen.driver, seen.devTools, program, `--port=${driverPort}`, "--log-level=SEVERE"];
  return { ...bounded(bounds, [...apart, ...driver]), readyPattern: /(was started successfully)/ };
};
