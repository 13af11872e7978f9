import type { Sensitive } from "../base/sensitive.ts";
import { openTokenAccess } from "./access.ts";
import { KubeError } from "./kube-error.ts";
import { type KubeResponse, transportOf } from "./transport.ts";

type Query = Record<string, string | number | undefined>;

/** Reads of the API server by the rights of another account. */
export type AccountReads = {
  /**
   * The answer, unchecked. Throws a `KubeError`: of the status that was answered, `Unreachable`, or `TooLarge`. Its message has
   * nothing of the answer.
   */
  read(path: string, options: { query?: Query; accept?: string; mostBytes: number }): Promise<unknown>;
  close(): Promise<void>;
};

const readBounded = async ({ body }: KubeResponse, mostBytes: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new KubeError("TooLarge", 200, `the answer has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** The caller must call `close`. `timeoutMs`: deadline of each read, the whole answer included. */
export const openAccountReads = (
  token: Sensitive,
  { kubeconfigPath, timeoutMs }: { kubeconfigPath?: string | undefined; timeoutMs: number },
): AccountReads => {
  const transport = transportOf(openTokenAccess(token, kubeconfigPath));
  return {
    async read(path, { query, accept, mostBytes }) {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await transport.send({
        method: "GET",
        path,
        signal,
        ...(query && { query }),
        ...(accept && { accept }),
      });
      const { statusCode } = response;
      if (statusCode >= 300) {
        await response.body.dump().catch(() => undefined);
        throw new KubeError(`Http${statusCode}`, statusCode, `a read was answered with ${statusCode}`);
      }
      try {
        return JSON.parse(await readBounded(response, mostBytes));
      } catch (error) {
        if (error instanceof KubeError) throw error;
        throw new KubeError("Unreachable", 0, "the answer to a read broke off");
      }
    },
    close: () => transport.close(),
  };
};
