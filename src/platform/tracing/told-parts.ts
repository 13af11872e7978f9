/** A part of a span as another process has timed it. */
export type ToldPart = { name: string; ms: number };

type Times = { startMs: number; endMs: number };

/**
 * Where the parts lie in their span: one after another in the middle of it, because the way there takes as long as the
 * way back. No part is outside of the span, whatever was told.
 */
export const placeParts = (parts: readonly ToldPart[], span: Times): (Times & { name: string })[] => {
  const told = parts.reduce((sum, { ms }) => sum + ms, 0);
  const within = (ms: number): number => Math.max(span.startMs, Math.min(ms, span.endMs));
  let atMs = within(span.startMs + (span.endMs - span.startMs - told) / 2);
  return parts.map(({ name, ms }) => {
    const startMs = atMs;
    atMs = within(startMs + Math.max(0, ms));
    return { name, startMs, endMs: atMs };
  });
};
