import { setTimeout as sleep } from "node:timers/promises";
import Kernel from "@onkernel/sdk";

export type Clients = {
  /** The public SDK with the organization's key. */
  kernel: Kernel;
  /**
   * A request with the organization's key; `body` is sent as JSON, a form as a form. As the SDK does, repeats it twice
   * if the answer is 503.
   */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
};

const repeatedTwice = async (send: () => Promise<Response>): Promise<Response> => {
  for (let repeats = 0; ; repeats += 1) {
    const response = await send();
    if (response.status !== 503 || repeats === 2) return response;
    await response.body?.cancel();
    await sleep(1000);
  }
};

/** Clients of a running service's HTTP API. `project`: the one that they work in; left out, the default project. */
export const clientsOf = ({ url, api_key }: { url: string; api_key: string }, project?: string): Clients => ({
  kernel: new Kernel({ baseURL: url, apiKey: api_key, projectID: project }),
  call: (method, path, body, headers = {}) =>
    repeatedTwice(() =>
      fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${api_key}`,
          ...(project !== undefined && { "x-kernel-project-id": project }),
          ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      }),
    ),
});
