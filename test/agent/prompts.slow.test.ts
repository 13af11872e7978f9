/** What asks a person in three kinds of browsers, what becomes of it without an answer, and that docs/prompts.md says so. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectCdp } from "../../src/cdp/cdp-connection.ts";
import { createTestAgents, type TestAgent } from "../support/agent-process.ts";
import { devToolsOf, session } from "../support/visited-agent.ts";
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

const tryAll = async (agent: TestAgent): Promise<Map<string, Tried>> => {
  await agent.bind(session, 1);
  await using cdp = await connectCdp(devToolsOf(agent), new AbortController().signal);
  const found = new Map<string, Tried>();
  for (const thing of things) found.set(thing.name, await tryThing(cdp, site, thing));
  return found;
};

beforeAll(async () => {
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

const cellOf = ({ told, goesOn }: Tried, varies: boolean): string => {
  if (!goesOn) return `**${told === "dialog" ? "dialog" : "no input"}**`;
  return varies && /^(waits|refused)$/.test(told) ? "waits or refused" : told;
};

const table = (): string[] => {
  const names = Object.keys(kinds) as Kind[];
  const rows = things.map(({ name, client = "", varies = false }) => {
    const cells = names.map((kind) => cellOf(tried[kind].get(name) as Tried, varies && kind !== "headless"));
    return `| ${[name, ...cells, client].join(" | ")} |`;
  });
  return [`| what | ${names.join(" | ")} | a client's answer |`, "|---|---|---|---|---|", ...rows];
};

// BROWSER-30
test("docs/prompts.md has the table of what these browsers did", async () => {
  const page = await readFile(new URL("../../docs/prompts.md", import.meta.url), "utf8");
  const written = page.split("\n").filter((line) => line.startsWith("|"));
  expect(written).toEqual(table());
});
