/**
 * What asks a person in three kinds of browsers, what becomes of it without an answer, and that docs/prompts.md says
 * so.
 */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectCdp } from "../../../src/platform/cdp/cdp-connection.ts";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { devToolsOf, session } from "../../support/visited-agent.ts";
import { type PromptSite, startPromptSite } from "./prompts/prompt-site.ts";
import { things } from "./prompts/things.ts";
import { type Tried, tryThing } from "./prompts/try-thing.ts";

const kinds = {
  headless: { headless: true },
  "headless, `stealth`": { headless: true, stealth: true },
  headful: { headless: false },
};
type Kind = keyof typeof kinds;

const agents = createTestAgents();
let site: PromptSite;
let tried: Record<Kind, Map<string, Tried>>;
/** The cells of docs/prompts.md after the first, by what that says. */
let written: Map<string, string[]>;

const tryAll = async (agent: TestAgent): Promise<Map<string, Tried>> => {
  await agent.bind(session, 1);
  await using cdp = await connectCdp(devToolsOf(agent), new AbortController().signal);
  const found = new Map<string, Tried>();
  for (const thing of things) found.set(thing.name, await tryThing(cdp, site, thing));
  return found;
};

const readRows = async (): Promise<Map<string, string[]>> => {
  const page = await readFile(new URL("../../../docs/prompts.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| "));
  return new Map(
    rows.slice(1).map((line) => {
      const [name = "", ...cells] = line
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.trim());
      return [name, cells];
    }),
  );
};

beforeAll(async () => {
  written = await readRows();
  site = await startPromptSite();
  const started: [Kind, TestAgent][] = [];
  // One start after the other; then they wait most of the time.
  for (const kind of Object.keys(kinds) as Kind[])
    started.push([kind, await agents.start({ ...kinds[kind], viewport: { width: 1000, height: 700 } })]);
  const all = await Promise.all(started.map(async ([kind, agent]) => [kind, await tryAll(agent)] as const));
  tried = Object.fromEntries(all) as typeof tried;
}, 900_000);

afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  site?.close();
});

/** What takes no input without an answer, by kind. Nothing else may. */
const dialogs = ["`alert`", "`confirm`", "`prompt`", "`beforeunload`, page left"];
const logins = ["HTTP login, `fetch`", "HTTP login, frame"];
const keys = ["WebAuthn, new key", "WebAuthn, login"];
const stand: Record<Kind, string[]> = {
  headless: dialogs,
  "headless, `stealth`": [...dialogs, ...logins, ...keys],
  headful: [...dialogs, ...logins, ...keys],
};

// BROWSER-30
test.each(Object.keys(kinds) as Kind[])(
  "%s: a page takes input whatever it asks, but for what clients answer",
  (kind) => {
    const standing = [...tried[kind]].filter(([, { goesOn }]) => !goesOn).map(([name]) => name);
    expect(standing).toEqual(stand[kind]);
  },
);

/**
 * What a page is told that was not given what it asked for; which of these, Chromium decides by the devices and the
 * focus of its machine.
 */
const notGiven = /^(waits|refused|denied|default|none|prompt|false)$/;

const isAsWritten = (cell: string, { told, goesOn }: Tried, settled: boolean): boolean => {
  if (!goesOn) return cell === `**${told === "dialog" ? "dialog" : "no input"}**`;
  if (settled) return cell === told;
  return !cell.startsWith("**") && (!notGiven.test(cell) || notGiven.test(told));
};

// BROWSER-30
test("docs/prompts.md tells of all things, in order", () => {
  expect([...written.keys()]).toEqual(things.map(({ name }) => name));
});

// BROWSER-30
test.each(things)("docs/prompts.md tells what became of: $name", ({ name, settled = false, client = "" }) => {
  const row = written.get(name) ?? [];
  const names = Object.keys(kinds) as Kind[];
  const otherwise = names.flatMap((kind, column) => {
    const now = tried[kind].get(name) as Tried;
    return isAsWritten(row[column] ?? "", now, settled) ? [] : [`${kind}: ${JSON.stringify(now)}`];
  });
  expect(otherwise, `it says: ${row.join(" | ")}`).toEqual([]);
  expect(row[names.length]).toBe(client);
});
