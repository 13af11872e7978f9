/** The service that commands call: which one it is, and its HTTP API. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Connection } from "../local/connection-file.ts";
import type { Variables } from "../platform/base/environment.ts";

/** What a command could not do, in words for the person who called it. `exitCode`: of the process. */
export class CommandError extends Error {
  override name = "CommandError";
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A request that the service has refused. `code`: of the problem that it answers, such as `not_found`. */
export class Refused extends CommandError {
  override name = "Refused";
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

export type Service = { url: string; key: string };

/** What the local mode of this data directory has written about itself; undefined when none runs. */
export const readConnection = async (dataDir: string): Promise<Connection | undefined> => {
  try {
    return JSON.parse(await readFile(join(dataDir, "local.json"), "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};

/**
 * The service of `KERNEL_BASE_URL` and `KERNEL_API_KEY`, which the public SDK reads too; undefined unless both are set.
 * A key is never an argument: other users of the machine see those.
 */
export const givenService = ({
  KERNEL_BASE_URL: url,
  KERNEL_API_KEY: key,
}: Readonly<Variables>): Service | undefined =>
  url && key ? { url: url.replace(/\/+$/, ""), key: key.trim() } : undefined;

/** The service that the environment names, else the local mode that runs on `dataDir`. */
export const findService = async (dataDir: string, env: Readonly<Variables>): Promise<Service> => {
  const given = givenService(env);
  if (given) return given;
  const { KERNEL_BASE_URL: url, KERNEL_API_KEY: key } = env;
  if (url || key)
    throw new CommandError(`${url ? "KERNEL_API_KEY" : "KERNEL_BASE_URL"} is missing: set both variables, or neither`);
  const local = await readConnection(dataDir);
  if (local) return { url: local.url, key: local.api_key };
  throw new CommandError(
    `no service runs on ${dataDir}: start one by npm start, or set KERNEL_BASE_URL and KERNEL_API_KEY`,
  );
};

/** Longest time for the service to answer, beside the time that a request itself waits for a browser, ms. */
const answerMs = 30_000;

type Request = { method?: "GET" | "POST" | "DELETE"; body?: unknown; waitMs?: number; signal: AbortSignal };

/** What an answer that is no success says, with its code: "pool demo is unknown (not_found)". */
const refusalOf = async (answer: Response): Promise<Refused> => {
  const text = await answer.text();
  try {
    const { code = "", message } = JSON.parse(text) as { code?: string; message?: string };
    if (message) return new Refused(code ? `${message} (${code})` : message, code);
  } catch {
    // Something in front of the service has answered.
  }
  return new Refused(`HTTP ${answer.status}`, "");
};

const bodyOf = (body: unknown): { headers?: Record<string, string>; body?: string | FormData } => {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
};

/**
 * Calls the API and returns the body of its answer; undefined for 204. `body`: sent as JSON, and a form as itself.
 * Throws a `Refused` with what the service says, or a CommandError when it does not answer.
 */
export const call = async <Body>(
  { url, key }: Service,
  path: string,
  { method = "GET", body, waitMs = 0, signal }: Request,
): Promise<Body | undefined> => {
  const deadline = AbortSignal.timeout(answerMs + waitMs);
  const sent = bodyOf(body);
  const answer = await fetch(`${url}${path}`, {
    method,
    ...sent,
    headers: { authorization: `Bearer ${key}`, ...sent.headers },
    signal: AbortSignal.any([signal, deadline]),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CommandError(`${url} does not answer: ${deadline.aborted ? "no answer in time" : cause}`);
  });
  if (!answer.ok) throw await refusalOf(answer);
  return answer.status === 204 ? undefined : ((await answer.json()) as Body);
};

/** Objects of one page of a list. */
const pageSize = 100;

/** All objects of a list, page by page; `most` at most. */
export const list = async <Item>(
  service: Service,
  path: string,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<Item[]> => {
  const items: Item[] = [];
  while (items.length < most) {
    const limit = Math.min(pageSize, most - items.length);
    const join = path.includes("?") ? "&" : "?";
    const page = await call<Item[]>(service, `${path}${join}limit=${limit}&offset=${items.length}`, { signal });
    items.push(...(page ?? []));
    if (!page || page.length < limit) break;
  }
  return items;
};
