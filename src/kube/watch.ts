import { createInterface } from "node:readline";
import { KubeError } from "./kube-error.ts";
import type { KubeObject } from "./objects.ts";
import type { KubeResponse } from "./transport.ts";

/** One event of a watch. A `BOOKMARK` carries only a newer `resourceVersion`, from which the next watch can continue. */
export type WatchEvent<T> = { type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; object: T };

/** The API server ends a watch after this time, s; the next watch continues from the last version. */
const serverTimeoutSeconds = 80;

/**
 * A stream without a line for this time, ms, counts as dead: the server ends a live stream sooner. Bookmarks can't show that a
 * stream is alive, since a kind without events gets none.
 */
const silenceLimitMs = 100_000;

type OpenWatch = (query: Record<string, string | number | boolean>, signal: AbortSignal) => Promise<KubeResponse>;

/** Reads one watch stream, line by line. Throws a `KubeError`: `Expired` (list again), or the error that ended the stream. */
export async function* readWatch<T extends KubeObject>(
  open: OpenWatch,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceLimitMs);
  const query = { watch: true, allowWatchBookmarks: true, timeoutSeconds: serverTimeoutSeconds };
  try {
    const response = await open(query, AbortSignal.any([signal, silence.signal]));
    const lines = createInterface({ input: response.body, crlfDelay: Number.POSITIVE_INFINITY });
    // When the consumer stops reading, the abort below makes the body fail; without a listener, that error would end the process.
    lines.on("error", () => undefined);
    for await (const line of lines) {
      timer.refresh();
      const event = JSON.parse(line) as { type: string; object: { reason?: string; code?: number; message?: string } };
      if (event.type === "ERROR") throw watchError(event.object);
      yield event as unknown as WatchEvent<T>;
    }
  } catch (error) {
    if (signal.aborted || error instanceof KubeError) throw error;
    throw new KubeError("Unreachable", 0, "the watch broke off", { cause: error });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

const watchError = (status: { reason?: string; code?: number; message?: string }): KubeError =>
  new KubeError(
    status.code === 410 ? "Expired" : (status.reason ?? "Unknown"),
    status.code ?? 0,
    status.message ?? "the watch failed",
  );
