import { createInterface } from "node:readline";
import { z } from "zod";
import { KubeError, statusOf } from "./kube-error.ts";
import { type KubeObject, malformed, storedObject } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";
import type { KubeResponse } from "./transport.ts";

/**
 * One event of a watch. A `BOOKMARK` carries only a newer `resourceVersion`, from which the next watch can continue.
 */
export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | { type: "BOOKMARK"; object: z.infer<typeof Bookmark> };

const Bookmark = z.object({ metadata: z.object({ resourceVersion: z.string() }) });

/** The API server ends a watch after this time, s; the next watch continues from the last version. */
const serverTimeoutSeconds = 80;

/**
 * A stream without a line for this time, ms, counts as dead: the server ends a live stream sooner. Bookmarks can't show
 * that a stream is alive, since a kind without events gets none.
 */
const silenceLimitMs = 100_000;

type OpenWatch = (query: Record<string, string | number | boolean>, signal: AbortSignal) => Promise<KubeResponse>;

const watchError = (answer: unknown): KubeError => {
  const { code, reason = "Unknown", message = "the watch failed" } = statusOf(answer);
  return new KubeError(code === 410 ? "Expired" : reason, code ?? 0, message);
};

const eventOf = <T extends KubeObject>(type: ResourceType<T>, line: string): WatchEvent<T> => {
  const event: { type?: unknown; object?: unknown } = JSON.parse(line);
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: storedObject(type, event.object) };
    case "BOOKMARK":
      return { type: event.type, object: Bookmark.parse(event.object) };
    case "ERROR":
      throw watchError(event.object);
    default:
      throw malformed(`sent an unknown watch event for ${type.plural}`);
  }
};

/**
 * Reads one watch stream, line by line. Throws a `KubeError`: `Expired` (list again), or the error that ended the
 * stream.
 */
export async function* readWatch<T extends KubeObject>(
  type: ResourceType<T>,
  open: OpenWatch,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceLimitMs);
  const query = { watch: true, allowWatchBookmarks: true, timeoutSeconds: serverTimeoutSeconds };
  try {
    const response = await open(query, AbortSignal.any([signal, silence.signal]));
    const lines = createInterface({ input: response.body, crlfDelay: Number.POSITIVE_INFINITY });
    // When the consumer stops reading, the abort below makes the body fail; without a listener, that error would end
    // the process.
    lines.on("error", () => undefined);
    for await (const line of lines) {
      timer.refresh();
      yield eventOf(type, line);
    }
  } catch (error) {
    if (signal.aborted || error instanceof KubeError) throw error;
    throw new KubeError("Unreachable", 0, "the watch broke off", { cause: error });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
