/**
 * The floor: two bare TCP relays, each a process of its own as the gateway and the agent are, doing what Node's `pipe` does
 * and nothing else. Its arguments: the address and port to relay to. Says its own port on the first line of stdout.
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
