/**
 * Chromium in a network namespace of its own, made without privileges as Chromium's sandbox makes its own. The only
 * interfaces are loopback and a pair that leads nowhere, without which pages would see an offline browser. Two
 * forwarders run inside:
 *
 *   Chromium ──► 127.0.0.1:3128 ──socat──► the socket of the forwarding proxy ──► the agent
 *   Chromium ◄── 127.0.0.1:9222 ◄──socat── the socket of DevTools             ◄── the agent
 *
 * So whatever Chromium is told, also by a holder of CDP, nothing leaves but through the proxy.
 */
import { join } from "node:path";

/** The sockets of a namespace, in a folder of the agent. */
type NamespaceSockets = { proxy: string; devTools: string };

/** The sockets in this folder. Their paths must stay below 108 bytes. */
export const socketsIn = (folder: string): NamespaceSockets => ({
  proxy: join(folder, "proxy.sock"),
  devTools: join(folder, "devtools.sock"),
});

/** The port of the way out, on the loopback of the namespace, where nobody else listens. */
const proxyPort = 3128;

/** The port of DevTools on the same loopback. */
export const devToolsPort = 9222;

/** Flags by which Chromium uses the proxy for everything, loopback included. */
export const wallFlags = [`--proxy-server=http://127.0.0.1:${proxyPort}`, "--proxy-bypass-list=<-loopback>"];

const most = 1024;

/** What runs without any right but the kept one: $1 and $2 are the sockets; then the program and its arguments. */
const forwardAndRun = `
proxy=$1 devtools=$2
shift 2
socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,nodelay,backlog=256,max-children=${most} "UNIX-CONNECT:$proxy" &
socat "UNIX-LISTEN:$devtools,fork,mode=600,backlog=64,max-children=${most}" TCP:127.0.0.1:${devToolsPort},nodelay &
exec "$@"
`;

/** $1: `forwardAndRun`; $2: rights that are kept; then what `forwardAndRun` takes. */
const script = `
set -e
run=$1 kept=$2
shift 2
ip link set lo up
# Without addrgenmode they get IPv6 addresses seconds later, and Chromium breaks off what it loads: the network has changed. A machine
# may lack the pair, or this mode: the other lines are tried.
ip -force -batch - 2>/dev/null <<end || true
link add net0 type veth peer name net1
link set net0 addrgenmode none
link set net1 addrgenmode none
address add 10.0.0.2/32 dev net0
link set net0 up
link set net1 up
end
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set="-all$kept" sh -c "$run" sh "$@"
`;

type Command = { program: string; args: string[] };

/**
 * The command that runs `program` in a new namespace; needs unshare, setpriv, ip and socat. `makesNamespaces`: it makes
 * further ones itself, for which root needs a right: to write the number 0 into their map of users.
 */
export const inNamespace = (
  { proxy, devTools }: NamespaceSockets,
  { program, args }: Command,
  { makesNamespaces }: { makesNamespaces: boolean },
): Command => ({
  program: "unshare",
  args: [
    ...["--user", "--map-current-user", "--keep-caps", "--net"],
    ...["sh", "-c", script, "sh", forwardAndRun, makesNamespaces ? ",+setfcap" : "", proxy, devTools],
    ...[program, ...args],
  ],
});
