/** The pages about the config registry, on the ops port: plain HTML that works without scripts. */

import { type Html, html, htmlPage } from "../../../core/http/html.ts";
import { configurationName } from "../configuration-name.ts";
import type { RecentRun } from "../site-evidence.ts";
import { maxUrlLength } from "../site-recipe.ts";
import type { AnalysisState, SiteAnswer } from "../site-wire.ts";
import type { AnalysisView, SiteView } from "../view-sites.ts";

const layout = (title: string, body: Html): string =>
  htmlPage({
    title,
    css: "/registry/page.css",
    head: html`    <link rel="icon" href="data:,">\n`,
    body: html`    <nav><a href="/registry">Sites</a> <a href="/registry/analyses">Analyses</a></nav>
    <main>
      <h1>${title}</h1>
${body}
    </main>
`,
  });

type Configuration = SiteAnswer["configurations"][number];

/** Whether lookups recommend it. */
const worksText = ({ eligible, evidence: { accessed, sample_size } }: Configuration): string => {
  if (eligible) return "yes";
  if (sample_size === 0) return "not known";
  return accessed > 0 ? "not surely" : "no";
};

/** Empty without a judged trial. */
const successText = ({ evidence: { success_rate, sample_size } }: Configuration): string =>
  sample_size === 0 ? "" : `${Math.round(success_rate * 100)} %`;

const time = (at: string): Html =>
  html`<time datetime="${at}">${at.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")}</time>`;

const siteUrl = ({ scope, target }: Pick<SiteAnswer, "scope" | "target">): string =>
  `/registry/site?${new URLSearchParams({ scope, target })}`;

const siteRow = (site: SiteAnswer): Html => {
  const [first] = site.configurations;
  return html`        <tr>
          <td><a href="${siteUrl(site)}">${site.target}</a></td><td>${site.scope}</td>
          <td>${first ? configurationName(first) : "none"}</td><td>${first ? worksText(first) : ""}</td>
          <td>${first ? successText(first) : ""}</td><td>${first?.evidence.sample_size ?? ""}</td>
          <td>${first ? time(first.evidence.last_observed_at) : ""}</td>
        </tr>
`;
};

const pager = (path: string, query: Record<string, string>, { offset, limit, hasMore }: Page): Html => {
  const to = (at: number): string => `${path}?${new URLSearchParams({ ...query, offset: String(at) })}`;
  return html`      <p class="pager">${offset > 0 ? html`<a rel="prev" href="${to(Math.max(0, offset - limit))}">Previous</a> ` : ""}${
    hasMore ? html`<a rel="next" href="${to(offset + limit)}">Next</a>` : ""
  }</p>
`;
};

type Page = { offset: number; limit: number; hasMore: boolean };

/** The list of sites, with a search. `size`: all that are known. */
export const sitesPage = ({
  sites,
  query,
  scope,
  page,
  size,
}: {
  sites: readonly SiteAnswer[];
  query: string;
  scope: string;
  page: Page;
  size: number;
}): string =>
  layout(
    "Config registry",
    html`      <form method="get" action="/registry" role="search">
        <label>A part of the URL, host or domain <input type="search" name="query" value="${query}" maxlength="${maxUrlLength}"></label>
        <label>Scope <select name="scope">${["", "exact", "host", "domain"].map(
          (one) => html`<option value="${one}"${one === scope ? html` selected` : ""}>${one || "all"}</option>`,
        )}</select></label>
        <button>Search</button>
      </form>
      <p>${size} sites are known.</p>
      <table>
        <thead><tr><th>Site</th><th>Scope</th><th>Best configuration</th><th>Works</th><th>Success</th><th>Judged trials</th><th>Last seen</th></tr></thead>
        <tbody>
${sites.map(siteRow)}        </tbody>
      </table>
${sites.length === 0 ? html`      <p role="status">Nothing is known of such a site.</p>\n` : ""}${pager("/registry", { query, scope }, page)}`,
  );

/** The share that reached the site in each run, as bars: the newest is at the right. */
const chart = (runs: readonly RecentRun[]): Html => {
  const width = 12;
  const height = 32;
  const bars = runs.map(({ at, accessed, blocked }, index) => {
    const share = accessed / (accessed + blocked || 1);
    const high = Math.max(1, Math.round(share * height));
    return html`<rect x="${index * width}" y="${height - high}" width="${width - 2}" height="${high}"><title>${at}: ${accessed} of ${accessed + blocked}</title></rect>`;
  });
  return html`<svg role="img" aria-label="Success of the last ${runs.length} runs" width="${Math.max(1, runs.length) * width}" height="${height}">${bars}</svg>`;
};

const configurationRow = (configuration: Configuration, runs: readonly RecentRun[]): Html => {
  const { accessed, blocked, inconclusive, run_count, last_observed_at } = configuration.evidence;
  return html`          <tr>
            <td>${configurationName(configuration)}</td><td>${worksText(configuration)}</td><td>${successText(configuration)}</td><td>${accessed}</td><td>${blocked}</td>
            <td>${inconclusive}</td><td>${run_count}</td><td>${time(last_observed_at)}</td><td>${chart(runs)}</td>
          </tr>
`;
};

const trialRow = ({ id, trials }: AnalysisState, index: number, hasScreenshot: boolean | undefined): Html => {
  const trial = trials[index];
  if (!trial) return html``;
  const source = `/registry/screenshots/${id}/${index}`;
  return html`            <tr class="${trial.verdict}">
              <td>${configurationName(trial)}</td><td>${trial.verdict}</td><td>${trial.reason}</td><td>${trial.http_status ?? ""}</td>
              <td>${(trial.duration_ms / 1000).toFixed(1)} s</td><td>${time(trial.started_at)}</td>
              <td>${hasScreenshot ? html`<a href="${source}"><img loading="lazy" src="${source}" alt="What trial ${index + 1} showed" width="160"></a>` : ""}</td>
            </tr>
`;
};

/** How far a run is. */
const stateOf = ({ status, started_at }: AnalysisState): string =>
  status === "running" && started_at === undefined ? "waiting" : status;

const analysisSection = ({
  analysis,
  target,
  screenshots,
}: AnalysisView): Html => html`      <section id="${analysis.id}">
        <h2>${target.normalized}</h2>
        <p>Run ${analysis.run}, ${stateOf(analysis)}${[analysis.outcome, analysis.message].map((said) => (said ? `: ${said}` : ""))}. Asked for ${time(analysis.created_at)}.</p>
        <table>
          <thead><tr><th>Configuration</th><th>Verdict</th><th>Reason</th><th>Status</th><th>Took</th><th>Began</th><th>Screenshot</th></tr></thead>
          <tbody>
${analysis.trials.map((_, index) => trialRow(analysis, index, screenshots[index]))}          </tbody>
        </table>
      </section>
`;

/** All that is known of one site. */
export const sitePage = ({ site, recent, analyses }: SiteView): string =>
  layout(
    site.target,
    html`      <p>Known for the scope <strong>${site.scope}</strong>.</p>
${site.guidance === null ? "" : html`      <h2>Guidance</h2>\n      <pre class="guidance">${site.guidance}</pre>\n`}      <h2>Configurations</h2>
      <table>
        <thead><tr><th>Configuration</th><th>Works</th><th>Success</th><th>Accessed</th><th>Blocked</th><th>Inconclusive</th><th>Runs</th><th>Last seen</th><th>Over time</th></tr></thead>
        <tbody>
${site.configurations.map((configuration, index) => configurationRow(configuration, recent[index] ?? []))}        </tbody>
      </table>
${analyses.map(analysisSection)}`,
  );

/** Analyses, those that run first. */
export const analysesPage = (analyses: readonly AnalysisView[], page: Page): string =>
  layout(
    "Analyses",
    html`${analyses.length === 0 ? html`      <p role="status">No site was analyzed in the last day.</p>\n` : ""}${analyses.map(analysisSection)}${pager("/registry/analyses", {}, page)}`,
  );

/** A page with a title and a text only. */
export const noticePage = (title: string, text: string): string =>
  layout(title, html`      <p role="status">${text}</p>`);

/** What `/registry/page.css` has besides the tokens. */
export const style = `body { margin: 0 auto; max-width: 75rem; padding: var(--space-4); }
nav a { margin-right: var(--space-4); }
form { display: flex; flex-wrap: wrap; gap: var(--space-4); align-items: end; }
label { display: grid; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: var(--space-1) var(--space-2); text-align: left; vertical-align: top; }
thead th { color: var(--text-muted); font-size: var(--small); }
td:first-child { overflow-wrap: anywhere; }
time, th { white-space: nowrap; }
svg rect { fill: var(--good); }
tr.blocked td:nth-child(2) { color: var(--bad); }
tr.accessed td:nth-child(2) { color: var(--good); }
.guidance { white-space: pre-wrap; }
`;
