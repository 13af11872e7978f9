import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHistory, type HistoryEvent, readHistory } from "./history.ts";
import { leaseEventOf } from "./lease-event.ts";

const scratchFile = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "bp-history-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "history.jsonl");
};

const mark = (at: number, mark: "load-begin" | "load-over"): HistoryEvent => ({ kind: "mark", at, mark });

test("a history is read back in the order of time", async () => {
  const file = await scratchFile();
  const history = createHistory(file);
  history.write(mark(2, "load-over"));
  history.write(mark(1, "load-begin"));
  await history.close();
  history.write(mark(3, "load-over"));
  expect(await readHistory(file)).toEqual([mark(1, "load-begin"), mark(2, "load-over")]);
});

test("a line that is no event is named", async () => {
  const file = await scratchFile();
  await writeFile(file, `${JSON.stringify(mark(1, "load-begin"))}\n{"kind":"mark","at":1}\n`);
  await expect(readHistory(file)).rejects.toThrow(/line 2/);
});

test("an entry of a pool's stream gets the time of this machine", () => {
  const entry = { script: "take", after: "before", changes: [{ what: "queued" as const, session: "s", ticket: 7 }] };
  const fields = ["script", JSON.stringify({ ...entry, timeUs: 1_000_500 }), "digest", "this"];
  const event = leaseEventOf("p", ["1000-3", fields], -900);
  expect(event).toEqual({ kind: "lease", at: 100.5, pool: "p", entry: "this", ...entry });
});
