/** What commands and events of WebDriver BiDi come to at a URL, in the words of the table in docs/webdriver.md. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bench, outcomeOf, withBench } from "./bench.ts";
import { commandTries } from "./command-tries.ts";
import { eventTries } from "./event-tries.ts";
import { connectRawBidi } from "./raw-bidi.ts";

/** By the name of a command or an event: `yes`, `no` (an event that does not come), or the code of the error. */
export type Outcomes = Record<string, string>;

/** `isNew`: whether a connection has no session yet. */
type Place = { url: string; isNew?: boolean };

/** For the bench's tab alone: others have events, too. */
const subscribeTo = (bench: Bench, name: string): Promise<string> =>
  outcomeOf(bench.send("session.subscribe", { events: [name], contexts: [bench.context] }));

const tryCommands = (place: Place, tries: Record<string, (bench: Bench) => Promise<unknown>>): Promise<Outcomes> =>
  withBench(place, async (bench) => {
    const outcomes: Outcomes = {};
    for (const module of ["browsingContext", "network"]) await subscribeTo(bench, module);
    for (const [name, attempt] of Object.entries(tries)) {
      outcomes[name] = await outcomeOf(attempt(bench));
      await bench.reset();
    }
    return outcomes;
  });

const tryEvents = (place: Place): Promise<Outcomes> =>
  withBench(place, async (bench) => {
    const outcomes: Outcomes = {};
    for (const name of Object.keys(eventTries)) outcomes[name] = await subscribeTo(bench, name);
    for (const [name, trigger] of Object.entries(eventTries)) {
      if (outcomes[name] !== "yes") continue;
      const since = bench.events.length;
      await trigger(bench);
      outcomes[name] = await bench.event(name, since).then(
        () => "yes",
        () => "no",
      );
      await bench.reset();
    }
    return outcomes;
  });

const tryAllCommands = async (place: Place): Promise<Outcomes> => {
  const outcomes: Outcomes = {};
  for (const tries of Object.values(commandTries)) Object.assign(outcomes, await tryCommands(place, tries));
  return outcomes;
};

/**
 * The outcomes of all that leaves the browser and the connection there: one after the other, since a command that shows
 * a tab hides others.
 */
export const tryEverything = async (place: Place): Promise<Outcomes> => ({
  ...(await tryAllCommands(place)),
  ...(await tryEvents(place)),
});

/** The outcome of one command on a connection of its own, which has a session. */
export const tryAlone = async (url: string, method: string, params = {}): Promise<Outcomes> => {
  const bidi = await connectRawBidi(url);
  if (method !== "session.new") await bidi.send("browsingContext.getTree");
  const outcome = await outcomeOf(bidi.send(method, params));
  await bidi.close();
  return { [method]: outcome };
};

/** A column of the table, from 1 on. */
export const documentedOutcomes = async (column: 1 | 2): Promise<Outcomes> => {
  const text = await readFile(join(import.meta.dirname, "../../../docs/webdriver.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([a-zA-Z]+\.[a-zA-Z]+)` \| ([^|]+) \| ([^|]+) \|$/gm)];
  return Object.fromEntries(rows.map((row) => [row[1], (row[column + 1] ?? "").trim()]));
};
