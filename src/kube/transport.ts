import { KubeConfig, RequestContext } from "@kubernetes/client-node";
import { type Dispatcher, request } from "undici";
import { awaitWith } from "../await-with.ts";
import { KubeError } from "./kube-error.ts";

/** How long the authentication headers of a kubeconfig are reused, ms: Kubernetes renews bound tokens on disk every few minutes. */
const headersLifeMs = 60_000;

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  contentType?: string;
  signal: AbortSignal;
};

export type KubeResponse = Dispatcher.ResponseData;

/** Sends one request to the API server of a kubeconfig over kept-alive connections. */
export type Transport = { send(request: KubeRequest): Promise<KubeResponse>; close(): Promise<void> };

const loadConfig = (path: string | undefined): KubeConfig => {
  const config = new KubeConfig();
  if (path) config.loadFromFile(path);
  else config.loadFromDefault();
  return config;
};

const queryString = (query: KubeRequest["query"]): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params}` : "";
};

/**
 * `kubeconfigPath`: the file to use; by default `KUBECONFIG`, the home folder, the pod's service account, in this order.
 * client-node authenticates (files, exec plug-ins, service accounts). Its generated client is not used: it opens a new connection
 * pool for every call, and its errors contain whole responses.
 */
export const openTransport = (kubeconfigPath?: string): Transport => {
  const config = loadConfig(kubeconfigPath);
  const server = config.getCurrentCluster()?.server;
  if (!server) throw new KubeError("Unreachable", 0, "no current cluster in the kubeconfig");
  let dispatcher: Dispatcher | undefined;
  let headers: { values: Record<string, string>; untilMs: number } | undefined;

  const authenticate = async (): Promise<Record<string, string>> => {
    if (headers && headers.untilMs > performance.now()) return headers.values;
    const context = new RequestContext(server, "GET");
    await config.applySecurityAuthentication(context);
    const fresh = context.getDispatcher();
    if (dispatcher) await fresh?.close();
    else dispatcher = fresh;
    headers = { values: context.getHeaders(), untilMs: performance.now() + headersLifeMs };
    return headers.values;
  };

  return {
    async send({ method, path, query, body, contentType, signal }) {
      try {
        const auth = await authenticate();
        const response = request(server + path + queryString(query), {
          method,
          headers: {
            ...auth,
            accept: "application/json",
            ...(body && { "content-type": contentType ?? "application/json" }),
          },
          ...(body && { body: JSON.stringify(body) }),
          ...(dispatcher && { dispatcher }),
          // By default undici closes the connection after a DELETE with a body, as some servers do not read it; the API server does.
          reset: false,
          signal,
          headersTimeout: 0,
          bodyTimeout: 0,
        });
        // undici ignores the signal while it connects, which may take ten seconds.
        return await awaitWith(response, signal);
      } catch (cause) {
        throw new KubeError("Unreachable", 0, `the Kubernetes API did not answer ${method} ${path}`, { cause });
      }
    },
    close: async () => dispatcher?.destroy(),
  };
};
