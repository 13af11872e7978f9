/**
 * The floor: two bare TCP relays, each in its own process as the gateway and the agent are, that only do what Node's
 * `pipe` does. Arguments: the address and port to relay to. The first line of stdout is the relay's own port.
 */
import { type AddressInfo, connect, createServer } from "node:net";

const [host = "", port = ""] = process.argv.slice(2);

const server = createServer({ noDelay: true }, (client) => {
  const target = connect({ host, port: Number(port), noDelay: true });
  for (const [from, to] of [
    [client, target],
    [target, client],
  ] as const) {
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
