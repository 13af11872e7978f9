import { resourceOf } from "./resource-type.ts";
import type { KubeRequest, Transport } from "./transport.ts";

/** `method`: that of HTTP, or WATCH. `resource`: e.g. `pods`, `browserpools/status`. `status`: of HTTP, 0 when there was no answer. */
export type KubeCall = { method: string; resource: string; status: number };

const callOf = ({ method, path, query }: KubeRequest, status: number): KubeCall => ({
  method: query?.watch ? "WATCH" : method,
  resource: resourceOf(path),
  status,
});

/** The transport, which tells of every call when its answer begins, or does not come; a watch is one call. */
export const telling = (transport: Transport, onCall: (call: KubeCall) => void): Transport => ({
  ...transport,
  async send(request) {
    let status = 0;
    try {
      const response = await transport.send(request);
      status = response.statusCode;
      return response;
    } finally {
      onCall(callOf(request, status));
    }
  },
});
