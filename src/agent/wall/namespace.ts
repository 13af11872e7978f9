/**
 * Chromium in a network namespace of its own, made without privileges as Chromium's sandbox makes its own. The only interfaces are
 * loopback and a pair that leads nowhere, without which pages would see an offline browser. Two forwarders run inside:
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

/** What a namespace is for. `policies`: a folder that Chromium shall see as /etc/chromium, in a mount namespace. */
export type NamespaceOptions = { sockets: NamespaceSockets | undefined; policies: string | undefined };

const most = 1024;

/** What runs without any right in the namespace: $1 and $2 are the sockets, which may be empty; then the program and its arguments. */
const forwardAndRun = `
proxy=$1 devtools=$2
shift 2
if [ -n "$proxy" ]; then
  socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,nodelay,backlog=256,max-children=${most} "UNIX-CONNECT:$proxy" &
  socat "UNIX-LISTEN:$devtools,fork,mode=600,backlog=64,max-children=${most}" TCP:127.0.0.1:${devToolsPort},nodelay &
fi
exec "$@"
`;

/** $1: `forwardAndRun`; $2: the folder of policies, which may be empty; then what `forwardAndRun` takes. */
const script = `
set -e
run=$1 policies=$2
shift 2
if [ -n "$policies" ]; then mount --bind -o ro "$policies" /etc/chromium; fi
if [ -n "$1" ]; then
  ip link set lo up
  if ip link add net0 type veth peer name net1 2>/dev/null; then
    # Without this they get IPv6 addresses seconds later, and Chromium breaks off what it loads: the network has changed.
    ip link set net0 addrgenmode none 2>/dev/null || true
    ip link set net1 addrgenmode none 2>/dev/null || true
    ip address add 10.0.0.2/32 dev net0
    ip link set net0 up
    ip link set net1 up
  fi
fi
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all sh -c "$run" sh "$@"
`;

/** The command that runs `program` in new namespaces; needs unshare, setpriv, ip and socat. */
export const inNamespace = (
  { sockets, policies }: NamespaceOptions,
  program: string,
  args: string[],
): { program: string; args: string[] } => ({
  program: "unshare",
  args: [
    "--user",
    "--map-current-user",
    "--keep-caps",
    ...(sockets ? ["--net"] : []),
    ...(policies === undefined ? [] : ["--mount"]),
    "sh",
    "-c",
    script,
    "sh",
    forwardAndRun,
    policies ?? "",
    sockets?.proxy ?? "",
    sockets?.devTools ?? "",
    program,
    ...args,
  ],
});
