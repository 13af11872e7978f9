/**
 * Knowledge that grows by use: sessions with consent add what their first navigation reached. Local mode, real
 * browsers, a small internet.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import { type SiteConfig, siteConfigKind } from "../../../src/features/sites/configs/site-config.ts";
import { createEvidenceStore } from "../../../src/features/sites/evidence-store.ts";
import { targetOf } from "../../../src/features/sites/rules/target.ts";
import type { SiteLine } from "../../../src/features/sites/site-evidence.ts";
import type { LookupAnswer } from "../../../src/features/sites/site-wire.ts";
import { exportSites } from "../../../src/features/sites/transfer.ts";
import { type CdpConnection, connectCdp } from "../../../src/platform/cdp/cdp-connection.ts";
import { eventually } from "../../support/eventually.ts";
import { type Internet, startInternet } from "../../support/internet/internet.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { internetEnv } from "../../support/visited-agent.ts";
import { watchRedis } from "../../support/watch-redis.ts";

/** An inspection comes once a minute, and a write every ten seconds; the machine does other work too, ms. */
const countedWithinMs = 150_000;
vi.setConfig({ testTimeout: 2 * countedWithinMs });

let internet: Internet;
let stack: LocalStack;
let redis: Awaited<ReturnType<typeof watchRedis>>;

const browser = { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } };

/** Makes a site known by three trials of a plain headless browser. */
const makeKnown = async (site: string): Promise<void> => {
  const target = targetOf(internet.url(site));
  if (typeof target === "string") throw new Error(target);
  const trials = { accessed: 3, blocked: 0, inconclusive: 0, observedAt: "2026-01-01T00:00:00Z", supports: true };
  const results = [{ browser, ...trials }];
  const run = { runId: `trials of ${site}`, origin: "here", source: "trial" as const, results, guidance: undefined };
  await createEvidenceStore({ kube: stack.kube }).addRun(target, run);
};

beforeAll(async () => {
  internet = await startInternet();
  stack = await startLocalStack({ env: { ...internetEnv(internet), BROWSERPOOL_SESSION_OUTCOMES: "on" } });
  redis = await watchRedis(stack.redis_url);
  for (const site of ["open-shop", "consent-first", "by-path", "late-shop", "soft-wall"]) await makeKnown(site);
});
afterAll(async () => {
  redis?.stop();
  await stack?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

type Session = { session_id: string; cdp_ws_url: string };
const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const response = await stack.call(method, path, body);
  const answer: unknown = response.status === 204 ? undefined : await response.json();
  expect({ status: response.status, answer }).toMatchObject({ status: expect.toSatisfy((code: number) => code < 300) });
  return answer as T;
};

/** Whether anybody but this client is attached to the browser's pages. */
const isWatched = async (cdp: CdpConnection): Promise<boolean> => {
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  await cdp.send("Target.closeTarget", { targetId });
  return targetInfos.find((info) => info.targetId === targetId)?.attached === true;
};

/** Visits the URLs one after the other, each until it is there and, if the first is watched, until it is judged. */
const use = async ({ cdp_ws_url }: Session, urls: string[], isObserved: boolean): Promise<void> => {
  await using cdp = await connectCdp({ url: cdp_ws_url, headers: {} }, new AbortController().signal);
  if (isObserved) await eventually("the session is watched", () => isWatched(cdp));
  else expect(await isWatched(cdp)).toBe(false);
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  for (const url of urls) {
    await cdp.send("Page.navigate", { url }, { sessionId });
    const expression = `document.readyState === "complete" && location.href === ${JSON.stringify(url)}`;
    await eventually("the page is there", async () => {
      const { result } = await cdp.send("Runtime.evaluate", { expression }, { sessionId });
      return result.value === true;
    });
    const isPublic = new URL(url).hostname.endsWith(".example");
    if (isObserved && isPublic) await eventually("it is judged", async () => !(await isWatched(cdp)), 30_000);
  }
};

/** One on-demand browser for one session. */
const session = async (urls: string[], more: object = { report_outcome: true }): Promise<void> => {
  const created = await call<Session>("POST", "/browsers", { headless: true, ...more });
  await use(created, urls, "report_outcome" in more && !("kiosk_mode" in more));
  await call("DELETE", `/browsers/${created.session_id}`);
};

/** What sessions found, as the export has it: `host open-shop.example: 1/0`. */
const found = async (): Promise<string[]> => {
  const sites: SiteLine[] = [];
  for await (const line of exportSites(stack.kube, "here")) sites.push(JSON.parse(line) as SiteLine);
  return sites
    .flatMap(({ scope, target, configurations }) =>
      configurations.flatMap(({ evidence }) =>
        evidence
          .filter(({ source }) => source === "session")
          .map(({ accessed, blocked }) => `${scope} ${target}: ${accessed}/${blocked}`),
      ),
    )
    .sort();
};
const counted = (line: string): Promise<unknown> =>
  eventually(`${line} is counted`, async () => (await found()).includes(line), countedWithinMs);
const lookup = async (url: string): Promise<LookupAnswer> => call("POST", "/config-registry/lookup", { url });

/** A session of another site that counts: whatever came before it has been looked at. */
const marker = async (site: string): Promise<void> => {
  await session([internet.url(site)]);
  await counted(`host ${site}.example: 1/0`);
};

// LOOKUP-80, LOOKUP-85, LOOKUP-86, LOOKUP-87
test("a session with consent adds its first navigation to what is known, and no second one within the hour", async () => {
  const url = internet.url("open-shop");
  await session([`${url}?token=s3cr3t#s3cr3t`, internet.url("by-path", "/denied")]);
  await counted(`exact ${url}: 1/0`);
  expect(await found()).toEqual([`domain open-shop.example: 1/0`, `exact ${url}: 1/0`, `host open-shop.example: 1/0`]);
  const evidence = { accessed: 4, blocked: 0, sample_size: 4, run_count: 2 };
  const { recommendation } = await lookup(url);
  expect(recommendation).toMatchObject({ match_scope: "exact", browser: { headless: true }, evidence });
  const sites = await call<object[]>("GET", "/config-registry/sites?query=open-shop&scope=host");
  expect(sites).toMatchObject([{ target: "open-shop.example", configurations: [{ eligible: true, evidence }] }]);

  await session([url]);
  await marker("consent-first");
  expect((await lookup(url)).recommendation).toMatchObject({ evidence });
});

// LOOKUP-81, LOOKUP-83, LOOKUP-84, LOOKUP-85
test("nothing is added without consent, by addresses inside, by other settings, or for what nobody knows", async () => {
  const { port } = new URL(internet.url("open-shop"));
  const before = await found();
  await session([internet.url("by-path")], {});
  await session([`http://${internet.address}:${port}/`]);
  await session([internet.url("by-path")], { report_outcome: true, viewport: { width: 1280, height: 800 } });
  await session([internet.url("by-path")], { report_outcome: true, headless: false, kiosk_mode: true });
  await session([internet.url("slow-shop")]);
  await marker("late-shop");
  const after = (await found()).filter((line) => !line.includes("late-shop"));
  expect(after).toEqual(before);
});

describe("a pool's session", () => {
  beforeAll(() =>
    call("POST", "/browser_pools", { name: "shared", size: 1, headless: true, fill_rate_per_minute: 25 }),
  );
  const acquire = (more: object): Promise<Session> => call("POST", "/browser_pools/shared/acquire", more);

  test("adds what it found, blocked too, and the next holder's nothing", async () => {
    const first = await acquire({ report_outcome: true });
    const denied = internet.url("by-path", "/denied");
    await use(first, [denied], true);
    await call("POST", "/browser_pools/shared/release", { session_id: first.session_id });
    const second = await acquire({});
    await use(second, [internet.url("soft-wall")], false);
    await call("POST", "/browser_pools/shared/release", { session_id: second.session_id });
    await counted("host by-path.example: 0/1");
    // Nobody has made this page of the host known.
    expect((await found()).filter((line) => /exact .*by-path|soft-wall/.test(line))).toEqual([]);
    const { recommendation } = await lookup(denied);
    // Trials say that it works; sessions alone change nothing in that.
    expect(recommendation).toMatchObject({ match_scope: "host", evidence: { accessed: 3, blocked: 1 } });
  });

  test("that goes on is counted too, and where people have given the knowledge", async () => {
    const metadata = { name: "given" };
    const given = { browser, evidence: { accessed: 5, blocked: 0, lastObservedAt: "2026-01-01T00:00:00Z" } };
    const spec = { scope: "domain", target: "slow-shop.example", configurations: [given] } as SiteConfig["spec"];
    await stack.kube.create(siteConfigKind, { metadata, spec });
    const held = await acquire({ report_outcome: true });
    await use(held, [internet.url("slow-shop")], true);
    await counted("domain slow-shop.example: 1/0");
    await call("POST", "/browser_pools/shared/release", { session_id: held.session_id });
  });
});

// LOOKUP-80, LOOKUP-88
test("no page's text, no query, and in logs no target is left anywhere", async () => {
  expect(redis.lines.some((line) => /^publish bp:site_reports/i.test(line))).toBe(true);
  expect(redis.lines.filter((line) => /s3cr3t|Each of our lamps/.test(line))).toEqual([]);
  const stored = await stack.kube.list(browserKind);
  const sites = [];
  for await (const line of exportSites(stack.kube, "here")) sites.push(line);
  expect(JSON.stringify([stored, sites])).not.toMatch(/s3cr3t|Each of our lamps/);
  const folder = join(stack.dataDir, "logs");
  const logs = await readdir(folder, { recursive: true, withFileTypes: true });
  const ours = logs.filter((file) => file.isFile() && /audit|pods/.test(join(file.parentPath, file.name)));
  const texts = await Promise.all(ours.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
  expect([stack.output(), ...texts].join("\n")).not.toMatch(/s3cr3t|[a-z]-shop\.example|by-path/);
});

// LOOKUP-82
test("an installation that has not turned it on refuses the consent by name, over HTTP and by YAML", async () => {
  redis.stop();
  await stack.stop();
  const { dataDir } = stack;
  await stack.kube.close();
  stack = await startLocalStack({ dataDir });
  for (const path of ["/browsers", "/browser_pools/shared/acquire"]) {
    const response = await stack.call("POST", path, { report_outcome: true });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: { code: "not_supported_here", message: expect.stringMatching(/report_outcome.*sessionOutcomes\.enabled/) },
    });
  }
  const metadata = { name: "by-yaml", namespace: "default" };
  await stack.kube.create(browserKind, { metadata, spec: { reportOutcome: true } as never });
  const refused = await eventually("the browser is refused", async () => {
    const { status } = (await stack.kube.get(browserKind, metadata)) ?? {};
    return status?.conditions.find(({ type, status: is }) => type === "Accepted" && is === "False");
  });
  expect(refused).toMatchObject({ reason: "NotSupportedHere", message: expect.stringContaining("reportOutcome") });
  await stack.kube.delete(browserKind, metadata);
});
