/**
 * Analyses over HTTP, of the sites of a small internet, by real browsers and proxies. Which sites get what: internet/.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import { analysisName, siteAnalysisKind } from "../../../src/features/sites/analyses/site-analysis.ts";
import { analysisLabel } from "../../../src/features/sites/analyses/trial.ts";
import type { AnalysisSummary } from "../../../src/features/sites/site-wire.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Analyses,
  analyzedWithinMs,
  startAnalyses,
  trialCounts,
  trialsNamespace,
} from "./support/analyses-stack.ts";

let analyses: Analyses;

beforeAll(async () => {
  analyses = await startAnalyses();
});
afterAll(() => analyses?.[Symbol.asyncDispose]());

// LOOKUP-47, LOOKUP-48, LOOKUP-49, LOOKUP-73, LOOKUP-75
test(
  "an open site needs the cheapest browser, and lookups say so from then on",
  async () => {
    const url = analyses.internet.url("open-shop");
    const { analysis: begun, recommendation, target } = await analyses.resolve(url);
    expect([begun.run, recommendation, target.domain]).toEqual([1, null, "open-shop.example"]);
    expect(begun.finished_at).toBeNull();
    expect((await analyses.lookup(url)).recommendation).toBeNull();
    // The same analysis, however it is spelled.
    expect((await analyses.resolve(url.replace("http", "HTTP").replace(/\/$/, "//?a=1"))).analysis.id).toBe(begun.id);
    const done = await analyses.ended(begun.id);
    expect(done).toMatchObject({ status: "completed", outcome: "recommendation", run: 1, target });
    expect(trialCounts(done)).toEqual({ "headless direct accessed ordinary": 3 });
    const found = await analyses.lookup(url);
    expect(found.working_configurations).toHaveLength(1);
    expect(found.recommendation).toMatchObject({
      type: "recommendation",
      browser: { headless: true, stealth: false },
      proxy: { mode: "direct" },
      match_scope: "exact",
      evidence: { success_rate: 1, sample_size: 3, run_count: 1, last_supported_at: done.trials.at(-1)?.started_at },
    });
    expect((await analyses.lookup(`${url}another/page`)).recommendation).toMatchObject({ match_scope: "host" });
    const { target: _, ...analysis } = done;
    const listed = (query: string) => analyses.call<AnalysisSummary[]>("GET", `/config-registry/analyses?${query}`);
    expect(await listed("status=completed")).toContainEqual({ analysis, target });
    expect(await listed(`query=${begun.id}`)).toEqual([{ analysis, target }]);
    expect(await listed("search=OPEN-shop")).toEqual([{ analysis, target }]);
    expect(await analyses.call("GET", `/config-registry/analyses/${begun.id}`)).toEqual({ ...found, analysis });
    expect(await analyses.call("GET", "/config-registry?search=open-SHOP")).toEqual([
      {
        target: target.normalized,
        analysis_id: begun.id,
        analysis_status: "completed",
        last_requested_at: done.created_at,
        recommendation: found.recommendation,
        recommended_config_label: "headless, direct",
        success_rate: 1,
      },
    ]);
    // Only once more, with the same id and one more run in the evidence.
    const again = await analyses.resolve(url);
    expect(again).toMatchObject({
      analysis: { id: begun.id, run: 2, trials: [] },
      recommendation: found.recommendation,
    });
    await analyses.ended(begun.id);
    expect((await analyses.lookup(url)).working_configurations[0]?.evidence).toMatchObject({
      sample_size: 6,
      run_count: 2,
    });
    const sites = await analyses.call<{ target: string; scope: string }[]>(
      "GET",
      "/config-registry/sites?query=OPEN-shop&limit=10",
    );
    expect(sites.map(({ scope, target: name }) => `${scope} ${name}`).sort()).toEqual([
      "domain open-shop.example",
      `exact ${url}`,
      "host open-shop.example",
    ]);
  },
  analyzedWithinMs,
);

// LOOKUP-76
test("trials leave nothing behind, and count for no limit of callers", async () => {
  const { items } = await analyses.stack.kube.list(browserKind, { namespace: trialsNamespace });
  expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
  const listed = await analyses.stack.kernel.browsers.list();
  expect(listed.getPaginatedItems()).toEqual([]);
});

// LOOKUP-76
test("no caller gets at the project of trials", async () => {
  const { stack } = analyses;
  const projects = await analyses.call<{ id: string }[]>("GET", "/org/projects");
  expect(projects.map(({ id }) => id)).toEqual(["default"]);
  const refused = { status: 404, body: { code: "project_not_found" } };
  for (const [method, path, body] of [
    ["POST", "/browsers", { headless: true }],
    ["GET", "/browsers", undefined],
  ] as const) {
    const response = await stack.call(method, path, body, { "X-Kernel-Project-Id": trialsNamespace });
    expect({ status: response.status, body: await response.json() }).toMatchObject(refused);
  }
  for (const method of ["PATCH", "DELETE"]) {
    const response = await stack.call(method, `/org/projects/${trialsNamespace}`, { status: "archived" });
    expect({ status: response.status, body: await response.json() }).toMatchObject(refused);
  }
});

test.each<[string, object, RegExp]>([
  ["an address inside", { url: "http://10.0.0.1/" }, /url: the address is not public/],
  ["no country", { url: "https://shop.example/", allowed_proxy_countries: ["XX"] }, /allowed_proxy_countries\[0\]: XX/],
])("%s is refused before anything begins", async (_name, body, message) => {
  const response = await analyses.stack.call("POST", "/config-registry/resolve", body);
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: 400,
    body: { code: "bad_request", message: expect.stringMatching(message) },
  });
});

test("an analysis that is not there is 404", async () => {
  for (const id of ["none", "../secrets", "A%00"]) {
    const response = await analyses.stack.call("GET", `/config-registry/analyses/${encodeURIComponent(id)}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, "not_found"]);
  }
});

describe("an order that somebody wrote by hand", () => {
  // LOOKUP-3
  test.each<[string, string, RegExp]>([
    ["for an address inside", "http://169.254.169.254/latest", /not public/],
    ["in another spelling", "http://open-shop.example:80/", /a lookup asks for/],
  ])("%s fails, and nothing is visited", async (_name, normalized, message) => {
    const name = analysisName(normalized);
    const host = new URL(normalized).hostname;
    const spec = { target: { normalized, host, domain: host }, run: 1, requestedAt: "2026-01-01T00:00:00Z" };
    await analyses.stack.kube.create(siteAnalysisKind, { metadata: { name }, spec });
    expect(await analyses.ended(name)).toMatchObject({
      status: "failed",
      message: expect.stringMatching(message),
      trials: [],
    });
    await analyses.stack.kube.delete(siteAnalysisKind, { name });
    await eventually("it is gone", async () => !(await analyses.stack.kube.get(siteAnalysisKind, { name })));
  });
});

// LOOKUP-94
test(
  "an analysis that waits or runs is canceled by who asked for it, once, and gives its browser back",
  async () => {
    const { stack, internet } = analyses;
    const begun = [];
    // Two browsers are set aside.
    for (const site of ["hard-wall", "stranded-shop", "only-germany"])
      begun.push((await analyses.resolve(internet.url(site))).analysis.id);
    const [running = "", , waiting = ""] = begun;
    const cancel = (id: string, headers = {}) =>
      stack.call("POST", `/config-registry/analyses/${id}/cancel`, undefined, headers);
    const trials = async (id: string): Promise<number> => {
      const labelSelector = `${analysisLabel}=${id}`;
      const { items } = await stack.kube.list(browserKind, { namespace: trialsNamespace, labelSelector });
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
    };
    await eventually("a trial runs", async () => (await trials(running)) > 0);

    const other = await stack.kernel.projects.create({ name: "other" });
    const foreign = await cancel(waiting, { "X-Kernel-Project-Id": other.id });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { code: "forbidden" }]);

    expect((await cancel(waiting)).status).toBe(200);
    const canceled = await analyses.ended(waiting);
    expect(canceled).toMatchObject({
      status: "canceled",
      failure: { code: "analysis_canceled", message: "the analysis was canceled" },
      trials: [],
    });
    expect(canceled.started_at).toBeUndefined();
    expect((await analyses.analysis(running)).status).toBe("running");

    expect(((await (await cancel(running)).json()) as { analysis: object }).analysis).toMatchObject({ id: running });
    expect(await analyses.ended(running)).toMatchObject({ status: "canceled", trials: [] });
    expect(await trials(running)).toBe(0);
    expect((await analyses.lookup(internet.url("hard-wall"))).working_configurations).toEqual([]);

    const again = await cancel(waiting);
    const { target: _, ...before } = canceled;
    expect([again.status, ((await again.json()) as { analysis: object }).analysis]).toEqual([200, before]);
    // Another run is possible, and is not canceled.
    expect((await analyses.resolve(internet.url("only-germany"))).analysis).toMatchObject({
      run: 2,
      status: "running",
    });
    for (const id of begun) await cancel(id);
    for (const id of begun) await analyses.ended(id);
    await stack.kernel.projects.delete(other.id);
  },
  analyzedWithinMs,
);

test("only an analysis that is there can be canceled", async () => {
  const response = await analyses.stack.call("POST", "/config-registry/analyses/none/cancel");
  expect([response.status, await response.json()]).toMatchObject([404, { code: "not_found" }]);
});

// LOOKUP-77
test(
  "an operator that is killed in mid-analysis leaves it to the next, and no trial counts twice",
  async () => {
    const url = analyses.internet.url("no-data-centres");
    const { analysis: begun } = await analyses.resolve(url, { allowed_proxy_countries: ["US"] });
    const before = await eventually(
      "two trials are done",
      async () => {
        const { trials } = await analyses.analysis(begun.id);
        return trials.length >= 2 && trials;
      },
      analyzedWithinMs,
    );
    analyses.stack.process.kill("SIGKILL");
    await eventually("it has died", () => analyses.stack.process.signalCode !== null);
    await analyses.startAgain({});
    const done = await analyses.ended(begun.id);
    expect(done.trials.slice(0, before.length)).toEqual(before);
    expect(done).toMatchObject({ run: 1, outcome: "recommendation" });
    expect(done.trials.at(-1)).toMatchObject({
      proxy: { mode: "managed", create: { type: "isp" } },
      verdict: "accessed",
    });
    const { evidence } = (await analyses.lookup(url)).working_configurations[0] ?? {};
    expect(evidence).toMatchObject({ accessed: 3, blocked: 0, run_count: 1 });
    const [, known] = await analyses.call<{ configurations: { evidence: { accessed: number; blocked: number } }[] }[]>(
      "GET",
      "/config-registry/sites?query=no-data-centres",
    );
    const judged = known?.configurations.reduce((sum, { evidence: each }) => sum + each.accessed + each.blocked, 0);
    expect(judged).toBe(done.trials.filter(({ verdict }) => verdict !== "inconclusive").length);
    const { items } = await analyses.stack.kube.list(browserKind, { namespace: trialsNamespace });
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
  },
  2 * analyzedWithinMs,
);

// LOOKUP-74
test("more analyses than an hour may have are 429, and say when to come again", async () => {
  await analyses.stack.stop();
  await analyses.startAgain({ perProjectAndHour: 1 });
  const response = await analyses.stack.call("POST", "/config-registry/resolve", {
    url: "https://one-too-many.example/",
  });
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: 429,
    body: { code: "too_many_requests", message: expect.stringContaining("a project may have 1 sites") },
  });
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(60);
});

// LOOKUP-78
test("without settings no site is analyzed, and what is known stays", async () => {
  await analyses.stack.stop();
  await analyses.startAgain(undefined);
  const response = await analyses.stack.call("POST", "/config-registry/resolve", { url: "https://shop.example/" });
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: 400,
    body: { code: "not_supported_here", message: expect.stringContaining("analyzes no sites") },
  });
  expect((await analyses.lookup(analyses.internet.url("open-shop"))).recommendation).not.toBeNull();
});
