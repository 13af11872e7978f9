/** Reads something of the service for as long as a view is seen, and again when it may have changed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { project } from "./api.ts";
import { changesOf, type Kind } from "./live.ts";

/**
 * `data`: what was read last, also after a failure: `error` then says why it may be old. Neither: it is being read for
 * the first time.
 */
export type Fetched<T> = { data: T | undefined; error: unknown; readAt: number | undefined; again: () => void };

/** Several changes at once cause one reading, after this time, ms. */
const settleMs = 300;

/** How long after a failure it is tried again, ms. */
const retryMs = 5000;

/**
 * `name`: what is read; another name is another thing. `load`: reads it. `kind`: its kind, whose changes cause another
 * reading, as another `version` does; `everyMs`: reads it again and again.
 */
export const useFetched = <T>(
  name: string,
  load: (signal: AbortSignal) => Promise<T>,
  { kind, version = "", everyMs }: { kind?: Kind; version?: string; everyMs?: number } = {},
): Fetched<T> => {
  const [state, setState] = useState<{ name: string; data?: T; error?: unknown; readAt?: number }>({ name });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const again = useCallback(() => setRound((count) => count + 1), []);
  const chosen = project.value;
  const changes = kind === undefined ? 0 : changesOf(kind).value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round, project, version or change reads again
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const data = await latest.current(gone.signal);
        if (gone.signal.aborted) return;
        setState({ name, data, readAt: Date.now() });
        if (everyMs !== undefined) timer = setTimeout(again, everyMs);
      } catch (error) {
        if (gone.signal.aborted) return;
        setState((before) => (before.name === name ? { ...before, error } : { name, error }));
        timer = setTimeout(again, retryMs);
      }
    };
    timer = setTimeout(() => void read(), changes === 0 || state.name !== name ? 0 : settleMs);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [name, round, chosen, changes, version]);
  const known = state.name === name ? state : { name };
  return { data: known.data, error: known.error, readAt: known.readAt, again };
};
