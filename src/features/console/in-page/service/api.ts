/** Calls of the service's API, as the person who is signed in and in the project that is chosen. */
import { signal } from "@preact/signals";

/** An answer that is an error, or no answer at all (`status` 0). `part`: what of a request is wrong, by field. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly parts: ReadonlyMap<string, string>;
  constructor(status: number, code: string, message: string, parts: ReadonlyMap<string, string> = new Map()) {
    super(message);
    this.status = status;
    this.code = code;
    this.parts = parts;
  }
}

/** The id of the project that is looked at; undefined: that of the key, or the default one. */
export const project = signal<string | undefined>(undefined);

/** Set when the service says that nobody is signed in any more: what it says. */
export const signedOut = signal<string | undefined>(undefined);

/** Counts the answers which say that a part of the service does not answer. */
export const unavailableAnswers = signal(0);

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Query = Readonly<Record<string, string | number | undefined>>;

type Asked = { body?: unknown; query?: Query; signal?: AbortSignal; headers?: Readonly<Record<string, string>> };

/** What each request has; the cookie of the session counts only beside the first one. */
const ownHeaders = (): Record<string, string> => ({
  "X-Browserpool-Console": "1",
  ...(project.value !== undefined && { "X-Kernel-Project-Id": project.value }),
});

const pathWith = (path: string, query: Query): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
};

type ErrorBody = { code?: string; message?: string; details?: { path?: string; message?: string }[] };

const errorOf = async (response: Response): Promise<ApiError> => {
  const body: ErrorBody = await response.json().catch(() => ({}));
  const parts = new Map((body.details ?? []).map(({ path = "", message = "" }) => [path, message]));
  const { code = "unknown", message = `The service answered with ${response.status}.` } = body;
  return new ApiError(response.status, code, message, parts);
};

/** Longest wait for an answer that is no stream, ms. */
const deadlineMs = 60_000;

/** An answer before its body is read. Throws `ApiError`; one with `aborted` when `signal` was. */
export const open = async (method: Method, path: string, asked: Asked = {}): Promise<Response> => {
  const { body, query = {}, signal, headers } = asked;
  let response: Response;
  try {
    response = await fetch(pathWith(path, query), {
      method,
      headers: {
        ...ownHeaders(),
        ...(body !== undefined && !(body instanceof FormData) && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch {
    if (signal?.aborted) throw new ApiError(0, "aborted", "This was given up.");
    throw new ApiError(0, "unreachable", "The service does not answer. Is it running, and is the network there?");
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.code === "unavailable") unavailableAnswers.value += 1;
  if (error.status === 401 && path !== "/console/session") signedOut.value = error.message;
  throw error;
};

/** The JSON of an answer; undefined when it has none. Throws as `open`. */
export const call = async <T = undefined>(method: Method, path: string, asked: Asked = {}): Promise<T> => {
  const limit = AbortSignal.timeout(deadlineMs);
  const signal = asked.signal ? AbortSignal.any([asked.signal, limit]) : limit;
  const response = await open(method, path, { ...asked, signal });
  const text = await response.text();
  // The routes say what they answer with (docs/openapi.json).
  return (text === "" ? undefined : JSON.parse(text)) as T;
};

/** One page of a list, and where the next one begins. */
export type Page<T> = { items: T[]; next: number | undefined };

/** Reads one page of a list. */
export const readPage = async <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Page<T>> => {
  const response = await open("GET", path, { query: { limit: 100, ...query }, ...(signal && { signal }) });
  const items: T[] = await response.json();
  const next = response.headers.get("X-Has-More") === "true" ? response.headers.get("X-Next-Offset") : null;
  return { items, next: next === null ? undefined : Number(next) };
};

/** Reads a whole list, of 1,000 entries at most. */
export const readList = async <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T[]> => {
  const all: T[] = [];
  for (let offset: number | undefined = 0; offset !== undefined && offset < 1000; ) {
    const { items, next }: Page<T> = await readPage(path, { ...query, offset }, signal);
    all.push(...items);
    offset = next;
  }
  return all;
};

/** A word in a path. */
export const inPath = (word: string): string => encodeURIComponent(word);
