import { signal } from "@preact/signals";

/** The time, ms since 1970; it moves on once a second while the page is seen. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

const steps: readonly [unit: string, seconds: number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** A span in its two largest units: `2 h 5 min`, `41 s`. */
export const span = (ms: number): string => {
  let seconds = Math.max(0, Math.floor(ms / 1000));
  const first = Math.max(
    0,
    steps.findIndex(([, size]) => seconds >= size),
  );
  if (seconds === 0) return "0 s";
  const parts: string[] = [];
  for (const [unit, size] of steps.slice(first, first + 2)) {
    const count = Math.floor(seconds / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    seconds -= count * size;
  }
  return parts.join(" ");
};

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time with the zone of this browser. */
export const exactTime = (at: string | number): string => exact.format(new Date(at));

const relative = (ms: number): string => {
  if (Math.abs(ms) < 1000) return "now";
  return ms > 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
};

/** A time, as a span from now; the exact one is its title. */
export const Time = ({ at }: { at: string | number | undefined | null }) => {
  if (at === undefined || at === null || at === "") return <span class="muted">never</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exactTime(at)}>
      {relative(now.value - date.getTime())}
    </time>
  );
};

/** How long something has lasted since a time. */
export const Since = ({ at, until }: { at: string | number; until?: string | number | undefined }) => (
  <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
    {span((until === undefined ? now.value : new Date(until).getTime()) - new Date(at).getTime())}
  </time>
);
