/**
 * Which parts of the service do not answer it, in the service's own words: a stream of events can be live, and silent,
 * while one is away. It is asked now and then while the page is seen, and at once after an answer that says so.
 */
import { signal } from "@preact/signals";
import { call, unavailableAnswers } from "./api.ts";
import type { SignedIn } from "./session.ts";

/** `since`: when all of them were known to answer, ms since 1970. */
type Away = { parts: readonly string[]; since: number };

/** What is away, as far as this window knows. */
export const away = signal<Away>({ parts: [], since: Date.now() });

/** Pauses between two questions, ms: while all is well, and while something is away. */
const usualMs = 10_000;
const awayMs = 2000;

const ask = async (signal: AbortSignal): Promise<void> => {
  const askedAt = Date.now();
  const { away: parts } = await call<SignedIn>("GET", "/console/session", { signal });
  if (parts.length === 0) away.value = { parts, since: askedAt };
  else away.value = { parts, since: away.value.since };
};

/** Begins to ask. Returns what ends it. */
export const startAway = (): (() => void) => {
  const gone = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  const look = async (): Promise<void> => {
    clearTimeout(timer);
    if (isAsking || gone.signal.aborted) return;
    isAsking = true;
    // No answer at all is told as the loss of the connection.
    if (!document.hidden) await ask(gone.signal).catch(() => undefined);
    isAsking = false;
    if (!gone.signal.aborted) timer = setTimeout(look, away.value.parts.length > 0 ? awayMs : usualMs);
  };
  const known = unavailableAnswers.peek();
  const unsubscribe = unavailableAnswers.subscribe((count) => {
    if (count !== known) void look();
  });
  timer = setTimeout(look, usualMs);
  return () => {
    unsubscribe();
    gone.abort();
    clearTimeout(timer);
  };
};
