import { type Dispatcher, request } from "undici";
import { awaitWith } from "../base/retry.ts";
import { type Access, type Credentials, openAccess } from "./access.ts";
import { KubeError } from "./kube-error.ts";

/** How long credentials are used again, ms: Kubernetes renews bound tokens on disk every few minutes. */
const credentialsLifeMs = 60_000;

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  contentType?: string;
  /** What of the object is wanted; left out, all of it as JSON. */
  accept?: string;
  signal: AbortSignal;
};

export type KubeResponse = Dispatcher.ResponseData;

/** Sends one request to the API server of a kubeconfig over kept-alive connections. */
export type Transport = { send(request: KubeRequest): Promise<KubeResponse>; close(): Promise<void> };

const queryString = (query: KubeRequest["query"]): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params}` : "";
};

/**
 * `kubeconfigPath`: see `openAccess`; it is read at once, and an error in it is thrown. client-node's generated client
 * is not used: it opens a new connection pool for every call, and its errors contain whole responses.
 */
export const openTransport = (kubeconfigPath?: string): Transport => transportOf(openAccess(kubeconfigPath));

/** The same by another way. */
export const transportOf = (access: Access): Transport => {
  let known: { value: Credentials; untilMs: number } | undefined;
  const authenticate = async (): Promise<Credentials> => {
    if (known && known.untilMs > performance.now()) return known.value;
    const value = await access.authenticate();
    known = { value, untilMs: performance.now() + credentialsLifeMs };
    return value;
  };

  return {
    async send({ method, path, query, body, contentType, accept = "application/json", signal }) {
      try {
        const { server, headers, dispatcher } = await authenticate();
        const response = request(server + path + queryString(query), {
          method,
          headers: {
            ...headers,
            accept,
            ...(body && { "content-type": contentType ?? "application/json" }),
          },
          ...(body && { body: JSON.stringify(body) }),
          ...(dispatcher && { dispatcher }),
          // By default undici closes the connection after a DELETE with a body, as some servers do not read it; the API
          // server does.
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
    close: access.close,
  };
};
