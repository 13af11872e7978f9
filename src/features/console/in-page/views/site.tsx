/** One site: what is recommended and why, the evidence of each configuration, and what was tried of late. */
import { configurationName } from "../../../sites/configuration-name.ts";
import type { AnalysisSummary, LookupAnswer, SiteAnswer } from "../../../sites/site-wire.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { Show } from "../parts/fetched.tsx";
import { attempt } from "../parts/notice.tsx";
import { ObjectHead } from "../parts/object-page.tsx";
import { AnalysisOutcome, EvidenceBar, percent, Recommendation } from "../parts/site-words.tsx";
import { State } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { Trials } from "../parts/trials.tsx";
import { go, to } from "../router.ts";
import { call, readPage } from "../service/api.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { useFetched } from "../service/use-fetched.ts";
import { counted } from "../service/words.ts";

type Configuration = SiteAnswer["configurations"][number];

const columns: readonly Column<Configuration>[] = [
  {
    key: "name",
    title: "Configuration",
    cell: (configuration) => <b>{configurationName(configuration)}</b>,
    sortBy: configurationName,
  },
  {
    key: "works",
    title: "Works",
    cell: ({ eligible }) =>
      eligible ? <State tone="good">yes</State> : <State tone="quiet">not enough evidence</State>,
    sortBy: ({ eligible }) => Number(eligible),
  },
  {
    key: "rate",
    title: "Reached",
    cell: ({ evidence: { success_rate, sample_size } }) => (sample_size === 0 ? "" : percent(success_rate)),
    sortBy: ({ evidence }) => evidence.success_rate,
    isNumber: true,
  },
  { key: "evidence", title: "Trials", cell: ({ evidence }) => <EvidenceBar of={evidence} />, isLow: true },
  {
    key: "count",
    title: "How many",
    cell: ({ evidence: { sample_size, inconclusive, run_count } }) =>
      `${sample_size + inconclusive} in ${counted(run_count, "run")}`,
    isLow: true,
  },
  {
    key: "last",
    title: "Last trial",
    cell: ({ evidence }) => <Time at={evidence.last_observed_at} />,
    sortBy: ({ evidence }) => evidence.last_observed_at,
  },
  {
    key: "supported",
    title: "Last good run",
    cell: ({ evidence }) => <Time at={evidence.last_supported_at} />,
    sortBy: ({ evidence: { last_supported_at = "" } }) => last_supported_at,
    isLow: true,
  },
];

/** A page of the site, to be looked up. */
const urlOf = ({ scope, target }: Pick<SiteAnswer, "scope" | "target">): string =>
  scope === "exact" ? target : `https://${target}/`;

/** The site, what a lookup recommends, and the analyses of its pages. */
const readSite = async (scope: string, target: string, signal: AbortSignal) => {
  const [{ items: sites }, { items: analyses }] = await Promise.all([
    readPage<SiteAnswer>("/config-registry/sites", { query: target, scope }, signal),
    readPage<AnalysisSummary>("/config-registry/analyses", { query: target, limit: 20 }, signal),
  ]);
  const site = sites.find((each) => each.target === target);
  const body = site && { url: urlOf(site) };
  const lookup =
    body && (await call<LookupAnswer>("POST", "/config-registry/lookup", { body, signal }).catch(() => undefined));
  const own = analyses.filter(({ target: { normalized, host, domain } }) =>
    [normalized, host, domain].includes(target),
  );
  return { site, lookup, analyses: own };
};

/** What people can write as a SiteConfig: the sum of all evidence, as their own. */
const specOf = ({ scope, target, configurations, guidance }: SiteAnswer): object => ({
  ...{ scope, target, guidance: guidance ?? undefined },
  configurations: configurations.map(({ browser, proxy, evidence }) => {
    const { accessed, blocked, inconclusive, run_count, last_observed_at } = evidence;
    const shared = { browser, evidence: { accessed, blocked, inconclusive, run_count, last_observed_at } };
    if (proxy.mode === "direct") return shared;
    const { type, config = {}, ...rest } = proxy.create;
    return { ...shared, proxy: { type, ...rest, [type]: config } };
  }),
});

const Actions = ({ site }: { site: SiteAnswer }) => {
  const body = { url: urlOf(site) };
  const analyze = () =>
    attempt(async () => {
      const { analysis } = await call<AnalysisSummary>("POST", "/config-registry/resolve", { body });
      go(to(["sites", "analyses", analysis.id]));
    }, "It is being tried out.");
  return (
    <ObjectHead name={site.target}>
      {may("registry:analyze") && (
        <button type="button" onClick={() => void analyze()}>
          Have it tried out
        </button>
      )}
      <AsCodeButton
        of={{
          title: `${plainText(site.target)} as code`,
          yaml: manifestOf("SiteConfig", { name: site.target, id: "site" }, specOf(site)),
          curl: { method: "POST", path: "/config-registry/lookup", body },
          sdk: `post("/config-registry/lookup", { body: ${JSON.stringify(body)} })`,
        }}
      />
    </ObjectHead>
  );
};

const Analyses = ({ analyses }: { analyses: readonly AnalysisSummary[] }) => (
  <section>
    <h2>Tried out within the last day</h2>
    {analyses.length === 0 && <p class="muted">No page of it.</p>}
    {analyses.map(({ analysis, target }) => (
      <details key={analysis.id}>
        <summary>
          <AnalysisOutcome of={analysis} /> <bdi class="wrap">{plainText(target.normalized)}</bdi>,{" "}
          {counted(analysis.trials.length, "trial")}, <Time at={analysis.created_at} />
        </summary>
        <Trials analysis={analysis} />
        <p>
          <a href={to(["sites", "analyses", analysis.id])}>This analysis</a>
        </p>
      </details>
    ))}
  </section>
);

const kinds: Record<string, string> = { exact: "page", host: "host", domain: "domain" };

/** The site of this scope and target. */
export const View = ({ id: scope, more: target }: { id: string; more: string }) => {
  const name = `site ${scope} ${target}`;
  const fetched = useFetched(name, (signal) => readSite(scope, target, signal), { everyMs: 10_000 });
  return (
    <>
      {!fetched.data?.site && (
        <h1 tabIndex={-1}>
          <Text of={target} />
        </h1>
      )}
      <Show fetched={fetched}>
        {({ site, lookup, analyses }) =>
          site ? (
            <>
              <Actions site={site} />
              <p class="muted">What is known of this {kinds[site.scope]}.</p>
              {lookup && <Recommendation of={lookup.recommendation} />}
              {site.guidance !== null && (
                <p>
                  Advice that nobody has verified: <bdi class="wrap">{plainText(site.guidance)}</bdi>
                </p>
              )}
              <section>
                <h2>Evidence</h2>
                <Table
                  label="Evidence"
                  rows={site.configurations}
                  columns={columns}
                  keyOf={(configuration) => JSON.stringify([configuration.browser, configuration.proxy])}
                  empty={<p>No configuration was tried.</p>}
                />
              </section>
              <Analyses analyses={analyses} />
            </>
          ) : (
            <p>
              Nothing is known of it. <a href={to(["sites"])}>All sites</a>
            </p>
          )
        }
      </Show>
    </>
  );
};
