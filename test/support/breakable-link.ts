/** A TCP relay in front of a server, for tests in which the connection breaks or goes silent. */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type BreakableLink = {
  port: number;
  /** From now on no bytes pass and no side is told: a black hole. New connections are accepted and ignored. */
  freeze(): void;
  /** Continues after a freeze. */
  thaw(): void;
  /** Breaks every connection; new ones work. */
  cut(): void;
  close(): void;
};

/** `host`: of the server. */
export const startBreakableLink = async (targetPort: number, host = "127.0.0.1"): Promise<BreakableLink> => {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    const target = keep(connect(targetPort, host));
    keep(client);
    client.on("close", () => target.destroy());
    target.on("close", () => client.destroy());
    client.on("data", (chunk) => target.write(chunk));
    target.on("data", (chunk) => client.write(chunk));
    if (isFrozen) for (const socket of [client, target]) socket.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close() {
      server.close();
      cut();
    },
  };
};

/** A kubeconfig whose server is behind a link. */
export const kubeconfigBehindLink = async (
  kubeconfigPath: string,
): Promise<{ path: string; link: BreakableLink; [Symbol.asyncDispose](): Promise<void> }> => {
  const text = await readFile(kubeconfigPath, "utf8");
  const port = /https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
  if (!port) throw new Error("this kubeconfig names no server on loopback");
  const link = await startBreakableLink(Number(port));
  const folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  const path = join(folder, "kubeconfig");
  await writeFile(path, text.replaceAll(`https://127.0.0.1:${port}`, `https://127.0.0.1:${link.port}`), {
    mode: 0o600,
  });
  return {
    path,
    link,
    async [Symbol.asyncDispose]() {
      link.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
