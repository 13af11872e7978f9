/** Local mode that analyzes sites of the local internet, and what its HTTP API answers. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { AnalysisAnswer, AnalysisState, LookupAnswer } from "../../../../src/features/sites/site-wire.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Internet, startInternet } from "../../../support/internet/internet.ts";
import { type LocalStack, startLocalStack } from "../../../support/local-stack.ts";
import { internetEnv } from "../../../support/visited-agent.ts";

/** An analysis makes a dozen trials of some seconds each, on a machine that does other work too, ms. */
export const analyzedWithinMs = 300_000;

/** Where the browsers of trials run. */
export const trialsNamespace = "browserpool-registry";

export type AnalysesOptions = {
  /** Besides those that all tests share. */
  settings?: object;
  /** The port of the provider's proxies in the US; by default that of a proxy that works. */
  portOfUs?: number;
  /** The administrator's rules of the judge. */
  rules?: object;
};

/** An analysis with its target. */
export type ReadAnalysis = AnalysisState & Pick<AnalysisAnswer, "target">;

/** `stack`: the one that runs now. */
export type Analyses = {
  internet: Internet;
  stack: LocalStack;
  /**
   * Starts local mode anew with the same data, after it has ended. `settings`: undefined for none, so that no site is
   * analyzed.
   */
  startAgain(settings: object | undefined): Promise<void>;
  /** The answer's body; fails unless it is 200. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  resolve(url: string, more?: object): Promise<AnalysisAnswer>;
  lookup(url: string, more?: object): Promise<LookupAnswer>;
  analysis(id: string): Promise<ReadAnalysis>;
  /** Waits for the end of an analysis. */
  ended(id: string): Promise<ReadAnalysis>;
  [Symbol.asyncDispose](): Promise<void>;
};

const sharedSettings = {
  browsers: 2,
  perHour: 60,
  perProjectAndHour: 59,
  rerunMinutes: 0,
  proxies: [
    { type: "isp", isp: { country: "US" } },
    { type: "residential", residential: { country: "DE" } },
  ],
};

/** Writes the files that say how sites are analyzed. Returns the variables that name them. */
const writeFiles = async (folder: string, internet: Internet, { settings, portOfUs, rules }: AnalysesOptions) => {
  const write = (name: string, content: object): Promise<void> =>
    writeFile(join(folder, name), JSON.stringify(content));
  const gateway = (country: "US" | "DE", port: number): object => ({
    host: internet.address,
    port,
    protocol: "http",
    country,
  });
  const { US, DE } = internet.proxies;
  await write("provider.yaml", { isp: gateway("US", portOfUs ?? US.port), residential: gateway("DE", DE.port) });
  if (rules) await write("rules.yaml", rules);
  await write("analyses.yaml", { ...sharedSettings, ...(rules && { rulesFile: "rules.yaml" }), ...settings });
  return {
    ...internetEnv(internet),
    BROWSERPOOL_ANALYSES_FILE: join(folder, "analyses.yaml"),
    BROWSERPOOL_PROXY_PROVIDER_FILE: join(folder, "provider.yaml"),
  };
};

/** Starts the local internet and local mode. */
export const startAnalyses = async (options: AnalysesOptions = {}): Promise<Analyses> => {
  await using parts = new AsyncDisposableStack();
  const internet = parts.use(await startInternet());
  const folder = await mkdtemp(join(tmpdir(), "browserpool-analyses-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const env = await writeFiles(folder, internet, options);
  let stack = await startLocalStack({ env });
  parts.defer(() => stack[Symbol.asyncDispose]());
  const call: Analyses["call"] = async (method, path, body) => {
    const response = await stack.call(method, path, body);
    const answer = await response.json();
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer as never;
  };
  const analysis: Analyses["analysis"] = async (id) => {
    const { analysis: read, target } = await call<AnalysisAnswer>("GET", `/config-registry/analyses/${id}`);
    return { ...read, target };
  };
  const ended: Analyses["ended"] = (id) =>
    eventually(
      `analysis ${id} ends`,
      async () => {
        const found = await analysis(id);
        return found.finished_at !== null && found;
      },
      analyzedWithinMs,
    );
  const kept = parts.move();
  return {
    internet,
    get stack() {
      return stack;
    },
    async startAgain(settings) {
      if (settings) await writeFiles(folder, internet, { ...options, settings });
      const { dataDir } = stack;
      await stack.kube.close();
      stack = await startLocalStack({ dataDir, ...(settings && { env }) });
    },
    call,
    resolve: (url, more = {}) => call("POST", "/config-registry/resolve", { url, ...more }),
    lookup: (url, more = {}) => call("POST", "/config-registry/lookup", { url, ...more }),
    analysis,
    ended,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

type Tried = Pick<AnalysisState["trials"][number], "browser" | "proxy">;

/** A configuration in words: `headless stealth isp`. */
export const nameOf = ({ browser, proxy }: Tried): string =>
  [
    browser.headless ? "headless" : "headful",
    ...(browser.stealth ? ["stealth"] : []),
    proxy.mode === "managed" ? proxy.create.type : "direct",
  ].join(" ");

/** How often each configuration was tried and what came of it: `{"headless direct accessed ordinary": 3}`. */
export const trialCounts = ({ trials }: AnalysisState): Record<string, number> => {
  const described = (trial: AnalysisState["trials"][number]): string =>
    `${nameOf(trial)} ${trial.verdict} ${trial.reason}`;
  return Object.fromEntries([...Map.groupBy(trials, described)].map(([what, its]) => [what, its.length]));
};
