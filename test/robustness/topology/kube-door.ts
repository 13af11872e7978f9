/**
 * The way of one replica to the Kubernetes API: a relay that knows requests from watches, so that a fault can hit the
 * watches alone. It speaks plain HTTP on loopback to the replica and TLS to the API server.
 *
 *   watches   pass ──drop──► broken once, then pass
 *             pass ──hold──► what the server sends waits here until let go, in its order
 *             pass ──late──► each line comes so many ms later, in its order
 *             pass ──shut──► broken, and new ones refused, until opened; from then on each kind is told 410 Expired until it
 *                            is listed anew
 *   requests  pass ──mute──► carried out, but the answer is lost: the connection breaks
 */
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse, stringify } from "yaml";

export type KubeDoor = {
  /** Names the door as the server of the replica. */
  kubeconfigPath: string;
  dropWatches(): void;
  holdWatches(isHeld: boolean): void;
  delayWatches(lateMs: number): void;
  shutWatches(isShut: boolean): void;
  muteRequests(isMute: boolean): void;
  stop(): void;
};

type Kubeconfig = {
  clusters: {
    cluster: { server: string; "certificate-authority-data"?: string; "insecure-skip-tls-verify"?: boolean };
  }[];
};

const expired = `${JSON.stringify({
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old resource version",
    reason: "Expired",
    code: 410,
  },
})}\n`;

const isWatch = ({ url = "" }: IncomingMessage): boolean => /[?&]watch=(true|1)\b/.test(url);
const kindOf = ({ url = "" }: IncomingMessage): string => url.split("?", 1)[0] ?? "";

/** Passes a watch's chunks on in their order, each after its delay and while nothing is held. */
const createWatchGate = () => {
  let lateMs = 0;
  let open = Promise.resolve();
  let letGo: (() => void) | undefined;
  return {
    delay(ms: number) {
      lateMs = ms;
    },
    hold(isHeld: boolean) {
      letGo?.();
      letGo = undefined;
      if (!isHeld) return;
      const held = Promise.withResolvers<void>();
      open = held.promise;
      letGo = held.resolve;
    },
    relay(answer: IncomingMessage, response: ServerResponse) {
      let last = Promise.resolve();
      const next = (act: () => void): void => {
        const dueMs = performance.now() + lateMs;
        last = last.then(async () => {
          await open;
          const restMs = dueMs - performance.now();
          if (restMs > 0) await sleep(restMs);
          if (!response.destroyed) act();
        });
      };
      answer.on("data", (chunk) => next(() => response.write(chunk)));
      answer.on("end", () => next(() => response.end()));
      answer.on("error", () => response.destroy());
    },
  };
};

/** `name`: of the replica; `kubeconfigPath`: the real one, whose server may be away. */
export const openKubeDoor = async (
  name: string,
  { kubeconfigPath: realPath, folder }: { kubeconfigPath: string; folder: string },
): Promise<KubeDoor> => {
  const config = parse(await readFile(realPath, "utf8")) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster;
  if (!cluster) throw new Error("this kubeconfig names no server");
  const target = new URL(cluster.server);
  const ca = Buffer.from(cluster["certificate-authority-data"] ?? "", "base64");
  const agent = new Agent({ keepAlive: true, ca });
  const gate = createWatchGate();
  const watches = new Set<ServerResponse>();
  /** Kinds of which the replica has missed too much to go on. */
  const expiredKinds = new Set<string>();
  let isShut = false;
  let isMute = false;

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url: path, headers } = request;
    const asked = httpsRequest({ agent, host: target.hostname, port: target.port, method, path, headers });
    asked.on("error", () => response.destroy());
    response.on("close", () => asked.destroy());
    asked.on("response", (answer) => {
      if (isMute && !isWatch(request)) return response.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isWatch(request)) return answer.pipe(response);
      response.flushHeaders();
      return gate.relay(answer, response);
    });
    request.pipe(asked);
  };
  const dropWatches = (): void => {
    for (const watch of watches) watch.destroy();
  };
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    if (!isWatch(request)) {
      if (request.method === "GET") expiredKinds.delete(kindOf(request));
      return forward(request, response);
    }
    if (isShut) return response.writeHead(503).end();
    if (expiredKinds.has(kindOf(request))) return response.writeHead(200).end(expired);
    watches.add(response);
    response.on("close", () => watches.delete(response));
    return forward(request, response);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  cluster.server = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  delete cluster["certificate-authority-data"];
  // The client takes a server without TLS only when it is told that nobody will check its certificate.
  cluster["insecure-skip-tls-verify"] = true;
  const kubeconfigPath = `${folder}/${name}.kubeconfig`;
  await mkdir(dirname(kubeconfigPath), { recursive: true });
  await writeFile(kubeconfigPath, stringify(config), { mode: 0o600 });
  return {
    kubeconfigPath,
    dropWatches,
    holdWatches: gate.hold,
    delayWatches: gate.delay,
    shutWatches(shut) {
      if (shut) for (const { req } of watches) expiredKinds.add(kindOf(req));
      isShut = shut;
      dropWatches();
    },
    muteRequests(mute) {
      isMute = mute;
    },
    stop() {
      gate.hold(false);
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
};
