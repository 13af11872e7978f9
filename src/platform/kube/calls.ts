import type { z } from "zod";
import { KubeError, statusOf } from "./kube-error.ts";
import { type KubeObject, malformed, storedObject } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";
import type { KubeRequest, KubeResponse, Transport } from "./transport.ts";

/** Longest body of an error answer that is read, bytes: a Status object is far below. */
const maxErrorBytes = 64 * 1024;

const readError = async (response: KubeResponse, request: KubeRequest): Promise<KubeError> => {
  const text = (await response.body.text().catch(() => "")).slice(0, maxErrorBytes);
  let status: ReturnType<typeof statusOf> = {};
  try {
    status = statusOf(JSON.parse(text));
  } catch {
    // Proxies answer with HTML; the status code says enough then.
  }
  const message = status.message ?? `${request.method} ${request.path} was answered with ${response.statusCode}`;
  return new KubeError(status.reason || `Http${response.statusCode}`, response.statusCode, message);
};

type Request = Omit<KubeRequest, "signal">;

/** Requests to the API server, by what is read of the answer. Each throws a `KubeError` for a refusal. */
export type Calls = {
  /** The answer, unread; it has no deadline but the request's own signal. */
  open(request: KubeRequest): Promise<KubeResponse>;
  /** The body, unchecked. */
  call(request: Request): Promise<unknown>;
  /** The body, which must fit the schema. */
  parsed<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>>;
  /** The one object that is answered. */
  one<T extends KubeObject>(type: ResourceType<T>, request: Request): Promise<T>;
};

/** `timeoutMs`: deadline of each call but `open`. */
export const createCalls = (transport: Transport, timeoutMs: number): Calls => {
  const open = async (request: KubeRequest): Promise<KubeResponse> => {
    const response = await transport.send(request);
    if (response.statusCode >= 300) throw await readError(response, request);
    return response;
  };
  const call = async (request: Request): Promise<unknown> => {
    const response = await open({ ...request, signal: AbortSignal.timeout(timeoutMs) });
    try {
      return await response.body.json();
    } catch (cause) {
      throw new KubeError("Unreachable", 0, `the answer to ${request.method} ${request.path} broke off`, { cause });
    }
  };
  return {
    open,
    call,
    async parsed(request, schema) {
      const { data, error } = schema.safeParse(await call(request));
      if (error) throw malformed(`gave no proper answer to ${request.method} ${request.path}`);
      return data;
    },
    one: async (type, request) => storedObject(type, await call(request)),
  };
};
