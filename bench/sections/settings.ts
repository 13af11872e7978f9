/**
 * What settings cost a browser: its start, its memory, its pages and its DevTools, against the same browser without
 * them.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession, Page } from "puppeteer-core";
import { createTestAgents, type StartOptions } from "../../test/support/agent-process.ts";
import { markingExtension } from "../../test/support/marking-extension.ts";
import { testCertificates } from "../../test/support/test-certificates.ts";
import { ownAddress } from "../../test/support/wall/machine.ts";
import { interleaved } from "../interleaved.ts";
import type { Bench, Row, Section } from "../section.ts";
import { makeProfile } from "../settings/make-profile.ts";
import { memoryOf } from "../settings/memory-of.ts";
import { startResourcesSite } from "../settings/resources-site.ts";
import { summarize } from "../statistics.ts";

/** Starts of each kind of browser, and the time that one has to settle before its memory is read, ms. */
const starts = 7;
const settleMs = 1500;

const policy = { HomepageLocation: "https://example.com/" };

const refOf = (archive: Buffer) => ({
  sha256: createHash("sha256").update(archive).digest("hex"),
  bytes: archive.length,
});

const twoExtensions = (): StartOptions => {
  const archives = ["first", "second"].map(markingExtension);
  const extensions = archives.map((zip, index) => ({
    id: `extension-${index}`,
    name: `extension ${index}`,
    ...refOf(zip),
  }));
  return { setup: { extensions }, archives };
};

/** `browser`: its settings; all others are headless. */
type Kind = StartOptions & { browser?: { headless?: boolean; stealth?: boolean } };

/** Kinds of browsers; the first is the floor of all others. */
const kindsWith = (profile: Buffer): Record<string, Kind> => ({
  "headless shell": {},
  headful: { browser: { headless: false } },
  stealth: { browser: { headless: true, stealth: true } },
  wall: { setup: { network: {} } },
  policy: { setup: { policy } },
  "two extensions": twoExtensions(),
  "a profile of 10 MB": { setup: { profile: refOf(profile) }, archives: [profile] },
  "wall, policy and two extensions": { ...twoExtensions(), setup: { ...twoExtensions().setup, policy, network: {} } },
});

type Agents = ReturnType<typeof createTestAgents>;

const measureStarts = async (agents: Agents, { say, signal }: Bench): Promise<Row[]> => {
  say("a profile");
  const kinds = kindsWith(await makeProfile(signal));
  const times = new Map<string, number[]>();
  const memory = new Map<string, number[]>();
  const note = (map: Map<string, number[]>, kind: string, value: number) =>
    map.set(kind, [...(map.get(kind) ?? []), value]);
  for (let round = 0; round < starts; round += 1) {
    say(`starts, round ${round + 1} of ${starts}`);
    for (const [kind, { browser = {}, ...options }] of Object.entries(kinds)) {
      signal.throwIfAborted();
      const beganMs = performance.now();
      const agent = await agents.start(browser, options);
      note(times, kind, performance.now() - beganMs);
      await sleep(settleMs);
      note(memory, kind, memoryOf(agent.groups()));
      agent.child.kill("SIGTERM");
      await agent.exited;
    }
  }
  const p50 = (map: Map<string, number[]>, kind: string): number => summarize(map.get(kind) ?? []).p50;
  const [floor = "", ...others] = Object.keys(kinds);
  const rows = (what: string, unit: Row["unit"], map: Map<string, number[]>): Row[] =>
    others.map((kind) => ({
      what: `${what}, ${kind}, p50`,
      unit,
      measured: p50(map, kind),
      floor: { what: floor, value: p50(map, floor) },
    }));
  return [
    ...rows("agent's start to a browser that is up", "ms", times),
    ...rows("memory of the browser", "bytes", memory),
  ];
};

type Opened = { browser: Browser; page: Page; cdp: CDPSession };

/** A full browser with a policy, so that the wall is the only difference. */
const open = async (agents: Agents, more: object): Promise<Opened> => {
  const agent = await agents.start({}, { setup: { policy, ...more } });
  await agent.bind("bench", 1);
  const browser = await agent.connect("bench");
  const page = await browser.newPage();
  const cdp = await page.createCDPSession();
  await cdp.send("Security.setIgnoreCertificateErrors", { ignore: true });
  return { browser, page, cdp };
};

const measureWall = async (agents: Agents, bench: Bench): Promise<Row[]> => {
  const sites = {
    HTTP: await startResourcesSite(),
    HTTPS: await startResourcesSite(testCertificates([`IP:${ownAddress}`])),
  };
  bench.say("pages of 100 resources, and CDP round trips");
  const walled = await open(agents, { network: {} });
  const direct = await open(agents, {});
  const ask = ({ cdp }: Opened): Promise<unknown> => cdp.send("Browser.getVersion");
  const common = { random: bench.random(), signal: bench.signal };
  const rows: Row[] = [];
  for (const [scheme, site] of Object.entries(sites)) {
    const load = ({ page }: Opened): Promise<unknown> => page.goto(site.url);
    const pages = await interleaved(
      { ...common, seconds: bench.seconds(20), batch: 1 },
      { walled: () => load(walled), direct: () => load(direct) },
    );
    rows.push({
      what: `page of 100 resources behind the wall, ${scheme}, p50`,
      unit: "ms",
      measured: summarize(pages.walled).p50,
      floor: { what: "direct", value: summarize(pages.direct).p50 },
      target: { of: "ratio", atMost: 1.15 },
    });
  }
  const calls = await interleaved(
    { ...common, seconds: bench.seconds(10), batch: 20 },
    { walled: () => ask(walled), direct: () => ask(direct) },
  );
  for (const { browser } of [walled, direct]) await browser.disconnect();
  for (const site of Object.values(sites)) await site[Symbol.asyncDispose]();
  return [
    ...rows,
    {
      what: "CDP round trip behind the wall, p50",
      unit: "ms",
      measured: summarize(calls.walled).p50,
      floor: { what: "direct", value: summarize(calls.direct).p50 },
    },
  ];
};

const measure = async (bench: Bench) => {
  await using agents = createTestAgents();
  return { rows: [...(await measureWall(agents, bench)), ...(await measureStarts(agents, bench))] };
};

export const section: Section = {
  name: "settings",
  summary: "what a wall, policies, extensions and profiles cost a browser",
  run: measure,
};
