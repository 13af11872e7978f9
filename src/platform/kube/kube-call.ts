import { resourceOf } from "./resource-type.ts";
import type { KubeRequest, Transport } from "./transport.ts";

/**
 * One call. `method`: of HTTP, or WATCH. `resource`: e.g. `pods`, `browserpools/status`. `status`: of HTTP, 0 without an answer.
 */
export type KubeCall = { method: string; resource: string; status: number };

const callOf = ({ method, path, query }: KubeRequest, status: number): KubeCall => ({
  method: query?.watch ? "WATCH" : method,
  resource: resourceOf(path),
  status,
});

/** A transport that calls `onCall` for each call when its answer begins, or when none comes. A watch is one call. */
export const reportingCalls = (transport: Transport, onCall: (call: KubeCall) => void): Transport => ({
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
