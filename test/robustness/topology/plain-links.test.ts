import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Links } from "./links.ts";
import { startPlainLinks } from "./plain-links.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A server that answers everything with its name. */
const serverOf = async (name: string): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("data", () => socket.write(name));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

const linkTo = async (target: number) => {
  const links: Links = startPlainLinks(target);
  stops.push(() => links.stop());
  return { links, link: await links.add("a") };
};

const dial = (port: number): Socket => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  stops.push(() => socket.destroy());
  return socket;
};

const answerOf = async (socket: Socket): Promise<string> => {
  socket.write("?");
  const [answer] = await once(socket, "data");
  return String(answer);
};

test("a link leads to its target, and elsewhere when it is told so", async () => {
  const { links, link } = await linkTo(await serverOf("first"));
  const socket = dial(link.port);
  expect(await answerOf(socket)).toBe("first");
  const closed = once(socket, "close");
  await links.aim(await serverOf("second"));
  await closed;
  expect(await answerOf(dial(link.port))).toBe("second");
});

test("a link that is off breaks its connections and takes none", async () => {
  const { link } = await linkTo(await serverOf("first"));
  const socket = dial(link.port);
  await answerOf(socket);
  const closed = once(socket, "close");
  await link.enable(false);
  await closed;
  await once(dial(link.port), "close");
  await link.enable(true);
  expect(await answerOf(dial(link.port))).toBe("first");
});
