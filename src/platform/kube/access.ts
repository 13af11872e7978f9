/** Where the way to the API server is told: a kubeconfig, or the service account of the pod. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Agent, type Dispatcher } from "undici";
import { environment } from "../base/environment.ts";
import type { Sensitive } from "../base/sensitive.ts";
import { type PlainKubeconfig, readPlainKubeconfig, type Source } from "./kubeconfig.ts";

/** What a call to the API server needs: its base URL, headers that authenticate the caller, and the connections. */
export type Credentials = { server: string; headers: Record<string, string>; dispatcher: Dispatcher | undefined };

/** The way to one API server. */
export type Access = {
  /**
   * Reads anew what may have been renewed: files, or the answer of a program. Rejects with an `Error` that names what
   * is missing.
   */
  authenticate(): Promise<Credentials>;
  /** Cuts all connections. */
  close(): Promise<void>;
};

/**
 * For what a kubeconfig may say beyond values and files: programs, identity providers, proxies, several files at once.
 * client-node is loaded here alone: with its generated models it is half of all the code that a replica would load.
 */
const openClientNodeAccess = (kubeconfigPath: string | undefined): Access => {
  let dispatcher: Dispatcher | undefined;
  const load = async () => {
    const { KubeConfig, RequestContext } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    if (kubeconfigPath) config.loadFromFile(kubeconfigPath);
    else config.loadFromDefault();
    const server = config.getCurrentCluster()?.server;
    if (!server) throw new Error("no current cluster in the kubeconfig");
    return async (): Promise<Credentials> => {
      const context = new RequestContext(server, "GET");
      await config.applySecurityAuthentication(context);
      const fresh = context.getDispatcher();
      if (dispatcher) await fresh?.close();
      else dispatcher = fresh;
      return { server, headers: context.getHeaders(), dispatcher };
    };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return {
    async authenticate() {
      loaded ??= load();
      return (await loaded)();
    },
    close: async () => dispatcher?.destroy(),
  };
};

const contentOf = async (source: Source | undefined): Promise<Buffer | undefined> => {
  if (!source) return undefined;
  return "file" in source ? await readFile(source.file) : source.value;
};

/** Proves by values and by files, which are read each time: Kubernetes renews tokens and certificates there. */
const openPlainAccess = (config: PlainKubeconfig): Access => {
  const { server, basic, serverName, isUnverified } = config;
  const authorization = async (): Promise<string | undefined> => {
    const token = await contentOf(config.token);
    if (token) return `Bearer ${token.toString().trim()}`;
    return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
  };
  let connections: { tls: object; agent: Agent } | undefined;
  /** Other certificates need other connections; what is under way on the former ones goes on. */
  const agentFor = (tls: object): Agent => {
    if (connections && isDeepStrictEqual(connections.tls, tls)) return connections.agent;
    void connections?.agent.close();
    connections = { tls, agent: new Agent({ connect: tls }) };
    return connections.agent;
  };
  return {
    async authenticate() {
      const [ca, cert, key, authorizationHeader] = await Promise.all([
        contentOf(config.ca),
        contentOf(config.cert),
        contentOf(config.key),
        authorization(),
      ]);
      const tls = {
        ...(ca && { ca }),
        ...(cert && { cert }),
        ...(key && { key }),
        ...(serverName && { servername: serverName }),
        ...(isUnverified && { rejectUnauthorized: false }),
      };
      return {
        server,
        headers: authorizationHeader === undefined ? {} : { authorization: authorizationHeader },
        dispatcher: agentFor(tls),
      };
    },
    close: async () => connections?.agent.destroy(),
  };
};

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const serviceAccount = (): PlainKubeconfig | undefined => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  const token = join(accountFolder, "token");
  if (!host || !existsSync(token)) return undefined;
  return {
    server: `https://${bracketed(host)}:${port}`,
    ca: { file: join(accountFolder, "ca.crt") },
    token: { file: token },
    isUnverified: false,
  };
};

/** Paths of the kubeconfigs that the user has; several are merged. */
const usersFiles = (): string[] => {
  const told = environment.KUBECONFIG?.split(delimiter).filter((path) => path !== "") ?? [];
  if (told.length > 0) return told;
  const usual = environment.HOME && join(environment.HOME, ".kube", "config");
  return usual && existsSync(usual) ? [usual] : [];
};

/** Where the API server is, by the only file or by the pod; undefined where programs or several files tell it. */
const plainPlace = (files: readonly string[]): PlainKubeconfig | undefined => {
  const [file, ...others] = files;
  if (file === undefined) return serviceAccount();
  return others.length === 0 ? readPlainKubeconfig(file) : undefined;
};

/**
 * The way to the same API server for whoever has this token. Nothing else proves the caller, no certificate either: a token that
 * is not valid must not be taken for this process. Throws an `Error` where `plainPlace` finds none.
 */
export const openTokenAccess = (token: Sensitive, kubeconfigPath?: string): Access => {
  const place = plainPlace(kubeconfigPath ? [kubeconfigPath] : usersFiles());
  if (!place) throw new Error("no plain kubeconfig that says where the API server is");
  const { server, ca, serverName, isUnverified } = place;
  return openPlainAccess({ server, ca, serverName, isUnverified, token: { value: Buffer.from(token.reveal()) } });
};

/**
 * `kubeconfigPath`: the file to use; by default those of `KUBECONFIG`, that of the home folder, the pod's service
 * account, in this order. Throws an `Error` when there is none, or when a file cannot be read or has no current
 * cluster.
 */
export const openAccess = (kubeconfigPath?: string): Access => {
  const files = kubeconfigPath ? [kubeconfigPath] : usersFiles();
  const [file] = files;
  if (file === undefined) {
    const account = serviceAccount();
    if (account) return openPlainAccess(account);
    throw new Error("no cluster: set KUBECONFIG to a kubeconfig, or run in a pod with a service account");
  }
  const plain = files.length === 1 ? readPlainKubeconfig(file) : undefined;
  return plain ? openPlainAccess(plain) : openClientNodeAccess(kubeconfigPath);
};
