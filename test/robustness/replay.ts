import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkWholeHistory } from "./check-whole-history.ts";
import { readHistory } from "./history/history.ts";
import { timelineOf } from "./timeline.ts";

/** Findings that are printed; the timeline has what belongs to all of them. */
const shown = 20;

/**
 * Checks a history that was kept, and writes a timeline of what was found beside it. Returns the exit code: 1 when
 * anything was found.
 */
export const replayHistory = async (file: string, say: (text: string) => void): Promise<number> => {
  const events = await readHistory(file);
  const { findings, undecided } = await checkWholeHistory(events);
  const timeline = join(dirname(file), "timeline.txt");
  await writeFile(timeline, `${timelineOf(events, findings)}\n`);
  for (const { check, what } of findings.slice(0, shown)) say(`${check}: ${what}`);
  if (findings.length > shown) say(`and ${findings.length - shown} more`);
  if (undecided > 0) say(`linearizable: no verdict in time on ${undecided} pools`);
  say(
    `${findings.length === 0 ? "nothing found" : `${findings.length} findings`} in ${events.length} events; ${timeline}`,
  );
  return findings.length === 0 ? 0 : 1;
};
