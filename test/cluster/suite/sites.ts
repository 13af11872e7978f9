/**
 * The config registry as it is installed: sites are analyzed by browsers that reach the public internet and nothing
 * else.
 */
import { deepStrictEqual } from "node:assert";
import { type Lane, type Phase, systemNamespace, trialsNamespace } from "../lane.ts";
import type { Check } from "../report.ts";
import { Skipped } from "../report.ts";
import {
  beginAnalysis,
  describeTrials,
  endedAnalysis,
  expectCounted,
  lookUp,
  type ReadAnalysis,
  readAnalysis,
  trialPods,
  trialsLeft,
  urlOf,
} from "./analyses.ts";
import { callOf } from "./call.ts";
import { givenKnowledge, whenKnown } from "./given-knowledge.ts";
import { metadataAddress, publicAddress } from "./node-addresses.ts";
import { expectAll, privateTargets, probe } from "./probes.ts";
import { type PublicSites, startPublicSites } from "./public-sites.ts";
import { until } from "./until.ts";
import { withoutPolicies } from "./without-policies.ts";

/** The chart's port of metrics. */
const opsPort = 9090;

/** Sites that redirect to private pages, and names that lead to some. */
const leadingInside = [
  urlOf("leads-to-a-pod"),
  urlOf("leads-to-metadata"),
  "http://name-of-a-pod.example:8080/",
  "https://name-of-the-api.example/",
];

const expectNotReached = (done: ReadAnalysis): string => {
  const trials = describeTrials(done);
  if (done.outcome !== "target_not_evaluable") throw new Error(`${done.outcome}: ${trials.join(", ")}`);
  return `${done.target.host}: ${trials.join(", ")}`;
};

/** Rejects when a private page was asked for. */
const expectNoRequests = async (sites: PublicSites): Promise<void> =>
  deepStrictEqual(await sites.privateRequests(), []);

const openSite = async (lane: Lane): Promise<string> => {
  const url = urlOf("open-shop");
  const id = await beginAnalysis(lane, url);
  const done = await endedAnalysis(lane, id);
  deepStrictEqual(describeTrials(done), ["headless accessed ordinary 3"]);
  const { recommendation } = await lookUp(lane, url);
  if (recommendation?.type !== "recommendation") throw new Error(`a lookup answers ${JSON.stringify(recommendation)}`);
  const { browser, proxy, match_scope, evidence } = recommendation;
  deepStrictEqual([browser.headless, browser.stealth, proxy.mode], [true, false, "direct"]);
  deepStrictEqual([match_scope, evidence.accessed, evidence.run_count], ["exact", 3, 1]);
  return `in ${await expectCounted(lane, done)}`;
};

/** The pod that leads. */
const leaderOf = async ({ kubectl }: Lane): Promise<string> => {
  const lease = ["lease/browserpool-operator", "--namespace", systemNamespace];
  const holder = await kubectl("get", ...lease, "--output", "jsonpath={.spec.holderIdentity}");
  // After the pod's name comes what tells its processes apart.
  return holder.slice(0, holder.lastIndexOf("-"));
};

/**
 * Whether the leader has counted these trials, by their verdicts. Before another leads: counts begin anew with each.
 */
const expectMetric = async (lane: Lane, verdict: string, atLeast: number): Promise<string> => {
  const script = `fetch("http://127.0.0.1:${opsPort}/metrics").then((answer) => answer.text()).then(console.log)`;
  const inside = [await leaderOf(lane), "--namespace", systemNamespace];
  const text = await lane.kubectl("exec", ...inside, "--", "node", "--eval", script);
  const line = text.split("\n").find((one) => one.startsWith(`browserpool_site_trials_total{verdict="${verdict}"}`));
  if (!(Number(line?.split(" ").at(-1)) >= atLeast)) throw new Error(`the leader's metrics have ${line}`);
  return line ?? "";
};

/** The leader is gone at once, without a word, in the midst of an analysis. */
const leaderGone = async (lane: Lane): Promise<string> => {
  const { kubectl, signal } = lane;
  const url = urlOf("no-headless");
  const id = await beginAnalysis(lane, url);
  const { trials: before } = await until(
    "two trials are done",
    async () => {
      const found = await readAnalysis(lane, id);
      return found.trials.length >= 2 && found;
    },
    { signal, limitMs: 120_000 },
  );
  const leader = await leaderOf(lane);
  await kubectl("delete", "pod", leader, "--namespace", systemNamespace, "--grace-period=0", "--force");
  const done = await endedAnalysis(lane, id);
  if ((await leaderOf(lane)) === leader) throw new Error(`${leader} still leads`);
  deepStrictEqual(done.trials.slice(0, before.length), before);
  deepStrictEqual([done.run, done.outcome], [1, "recommendation"]);
  await expectCounted(lane, done);
  const sites = await callOf(lane)("GET", "/config-registry/sites?query=no-headless");
  const judged = done.trials.filter(({ verdict }) => verdict !== "inconclusive").length;
  for (const { scope, configurations } of sites) {
    const evidence = configurations.map((one: { evidence: { accessed: number; blocked: number } }) => one.evidence);
    const counted = evidence.reduce(
      (sum: number, { accessed, blocked }: (typeof evidence)[0]) => sum + accessed + blocked,
      0,
    );
    if (counted !== judged) throw new Error(`${scope}: ${counted} judged trials are counted of ${judged}`);
  }
  return describeTrials(done).join(", ");
};

const privateSites = async (lane: Lane, check: Check, sites: PublicSites): Promise<void> => {
  await check("a site that redirects to a private address, or whose name leads to one, is not evaluable", async () => {
    const ids = await Promise.all(leadingInside.map((url) => beginAnalysis(lane, url)));
    const ended = await Promise.all(ids.map((id) => endedAnalysis(lane, id)));
    await expectNoRequests(sites);
    return ended.map(expectNotReached).join("\n");
  });
  await check("without the policies the browser's own wall keeps a page from private addresses", () =>
    withoutPolicies(lane, [trialsNamespace], async () => {
      const done = await endedAnalysis(lane, await beginAnalysis(lane, urlOf("curious")));
      deepStrictEqual(describeTrials(done), ["headless accessed ordinary 3"]);
      await expectNoRequests(sites);
    }),
  );
  await check("whoever has no wall gets those pages", async () => {
    await sites.askPrivately();
    deepStrictEqual((await sites.privateRequests()).length, 2);
  });
};

/** What the pods of trials reach, tried while they wait for a slow site. */
const podsOfTrials = async (lane: Lane, { neighbour }: PublicSites): Promise<string> => {
  const id = await beginAnalysis(lane, urlOf("patient"));
  const from = await until(
    "a trial runs",
    async () => (await trialPods(lane)).find(({ status }) => status?.phase === "Running"),
    { signal: lane.signal },
  );
  deepStrictEqual(expectAll(await probe(lane, from, [{ what: "site", host: publicAddress, port: 80 }]), true), "site");
  const targets = [
    ...(await privateTargets(lane, from, [])),
    { what: "another pod", ...neighbour },
    { what: "metadata address", host: metadataAddress, port: 80 },
  ];
  const text = expectAll(await probe(lane, from, targets), false);
  deepStrictEqual(describeTrials(await endedAnalysis(lane, id)), ["headless accessed ordinary 3"]);
  return text;
};

export const sites: Phase = {
  name: "sites",
  summary: "sites are analyzed under the NetworkPolicies; lookups answer what trials, YAML and imports tell",
  async run(lane, check) {
    if (lane.cluster.kindName === undefined) throw new Skipped("no address of this cluster's nodes counts as public");
    await using sites = await startPublicSites(lane);
    await check("an open site is analyzed, and a lookup recommends what reached it", () => openSite(lane));
    await check("the leader counts the trials in its metrics", () => expectMetric(lane, "accessed", 3));
    await privateSites(lane, check, sites);
    await check("the pod of a trial reaches the public internet, and nothing private", () => podsOfTrials(lane, sites));
    await givenKnowledge(lane, check);
    await check("the leader is killed in mid-analysis: the next goes on, and no trial counts twice", () =>
      leaderGone(lane),
    );
    await check("analyses and evidence can be deleted, and are unknown then", async () => {
      await lane.kubectl("delete", "siteanalyses,siteevidences", "--all", "--timeout=60s");
      return whenKnown(lane, urlOf("open-shop"), false);
    });
    await check("nothing is left of the trials", async () => {
      await until("no browser is left", async () => (await trialsLeft(lane)).length === 0, { signal: lane.signal });
    });
  },
};
