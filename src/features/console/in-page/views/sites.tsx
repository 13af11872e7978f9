/** What is known of sites: a URL looked up or tried out, all known sites, and what was analyzed of late. */
import { useRef, useState } from "preact/hooks";
import { configurationName } from "../../../sites/configuration-name.ts";
import type { AnalysisAnswer, LookupAnswer, RecommendationSummary, SiteAnswer } from "../../../sites/site-wire.ts";
import { Show } from "../parts/fetched.tsx";
import { Problem } from "../parts/notice.tsx";
import { Choice, Search, useTyped } from "../parts/search.tsx";
import { EvidenceBar, percent, Recommendation } from "../parts/site-words.tsx";
import { State } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { go, query, to } from "../router.ts";
import { call, readPage } from "../service/api.ts";
import { may } from "../service/session.ts";
import { type Fetched, useFetched } from "../service/use-fetched.ts";

/** What a URL is looked up as has no query and no login: that part of an address is nobody's business. */
const Found = ({ of }: { of: LookupAnswer }) => (
  <div class="notice" role="status">
    <p>
      Looked up as <bdi class="wrap">{plainText(of.target.normalized)}</bdi>
    </p>
    <Recommendation of={of.recommendation} />
    {of.working_configurations.length > 1 && (
      <p class="muted">Also works: {of.working_configurations.slice(1).map(configurationName).join("; ")}.</p>
    )}
    {of.guidance !== null && (
      <p>
        Advice that nobody has verified: <bdi class="wrap">{plainText(of.guidance)}</bdi>
      </p>
    )}
  </div>
);

const LookUp = () => {
  const [url, setUrl] = useState("");
  const [found, setFound] = useState<LookupAnswer>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    setFound(undefined);
    await work().catch((failure: unknown) => setError(failure));
    setBusy(false);
  };
  const body = { url: url.trim() };
  const lookUp = () => run(async () => setFound(await call<LookupAnswer>("POST", "/config-registry/lookup", { body })));
  const analyze = () =>
    run(async () => {
      const { analysis } = await call<AnalysisAnswer>("POST", "/config-registry/resolve", { body });
      go(to(["sites", "analyses", analysis.id]));
    });
  return (
    <section>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void lookUp();
        }}
      >
        <input
          type="url"
          class="address"
          aria-label="URL to look up"
          placeholder="https://shop.example/…"
          required
          maxLength={2048}
          autocomplete="off"
          spellcheck={false}
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <button type="submit" disabled={isBusy}>
          Look up
        </button>
        {may("registry:analyze") && (
          <button type="button" disabled={isBusy || url.trim() === ""} onClick={() => void analyze()}>
            Have it tried out
          </button>
        )}
      </form>
      {error !== undefined && <Problem error={error} />}
      {found && <Found of={found} />}
    </section>
  );
};

const siteColumns: readonly Column<SiteAnswer>[] = [
  {
    key: "target",
    title: "Site",
    cell: ({ scope, target }) => (
      <a href={to(["sites", scope, target])}>
        <Text of={target} />
      </a>
    ),
  },
  {
    key: "scope",
    title: "Known of",
    cell: ({ scope }) => ({ exact: "the page", host: "the host", domain: "the domain" })[scope],
    isLow: true,
  },
  {
    key: "works",
    title: "Works",
    cell: ({ configurations: [first] }) =>
      first?.eligible ? (
        <State tone="good">{configurationName(first)}</State>
      ) : (
        <State tone="warn">nothing known</State>
      ),
  },
  {
    key: "evidence",
    title: "Trials",
    cell: ({ configurations: [first] }) => first && <EvidenceBar of={first.evidence} />,
    isLow: true,
  },
  {
    key: "last",
    title: "Last trial",
    cell: ({ configurations: [first] }) => <Time at={first?.evidence.last_observed_at} />,
    isLow: true,
  },
];

const analyzedColumns: readonly Column<RecommendationSummary>[] = [
  {
    key: "target",
    title: "Page",
    cell: ({ analysis_id, target }) => (
      <a href={to(["sites", "analyses", analysis_id])}>
        <Text of={target} />
      </a>
    ),
    sortBy: ({ target }) => target,
  },
  {
    key: "status",
    title: "Analysis",
    cell: ({ analysis_status }) => analysis_status,
    sortBy: ({ analysis_status }) => analysis_status,
  },
  {
    key: "works",
    title: "Recommended",
    cell: ({ recommended_config_label: label, success_rate: rate }) =>
      label === null ? (
        <span class="muted">nothing</span>
      ) : (
        <>
          {label} <span class="muted">{rate === null ? "" : percent(rate)}</span>
        </>
      ),
    isLow: true,
  },
  {
    key: "asked",
    title: "Asked for",
    cell: ({ last_requested_at }) => <Time at={last_requested_at} />,
    sortBy: ({ last_requested_at }) => last_requested_at,
  },
];

type Page<T> = { items: T[]; next: number | undefined };

/** A page of a list that the service searches; the one before stays until it is there. */
const useFound = <T,>(path: string, filters: Record<string, string>): Fetched<Page<T>> => {
  const name = `${path} ${JSON.stringify(filters)}`;
  const fetched = useFetched(name, (signal) => readPage<T>(path, filters, signal), { everyMs: 15_000 });
  const last = useRef<Page<T> | undefined>(undefined);
  last.current = fetched.data ?? last.current;
  return { ...fetched, data: last.current };
};

type Shown<T> = {
  label: string;
  fetched: Fetched<Page<T>>;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  none: string;
};

const FoundTable = <T,>({ label, fetched, columns, keyOf, none }: Shown<T>) => (
  <Show fetched={fetched}>
    {({ items, next }) => (
      <>
        {next !== undefined && <p class="counts">The first {items.length}. Type more of the name to find others.</p>}
        <Table label={label} rows={items} columns={columns} keyOf={keyOf} empty={<p>{none}</p>} />
      </>
    )}
  </Show>
);

const Known = () => {
  const fetched = useFound<SiteAnswer>("/config-registry/sites", {
    query: useTyped(),
    scope: query.value.get("scope") ?? "",
  });
  const isFiltered = query.value.get("query") || query.value.get("scope");
  return (
    <FoundTable
      label="Known sites"
      fetched={fetched}
      columns={siteColumns}
      keyOf={({ scope, target }) => `${scope} ${target}`}
      none={
        isFiltered
          ? "No known site has this in its name."
          : "Nothing is known of any site yet. Have a URL tried out, or give knowledge as a SiteConfig."
      }
    />
  );
};

const Analyzed = () => (
  <FoundTable
    label="Analyzed pages"
    fetched={useFound<RecommendationSummary>("/config-registry", { query: useTyped() })}
    columns={analyzedColumns}
    keyOf={({ analysis_id }) => analysis_id}
    none="No page was tried out within the last day that matches."
  />
);

/** Sites. */
export const View = () => {
  const isAnalyzed = query.value.get("show") === "analyzed";
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Sites</h1>
        <Search label="Find a site" />
        <Choice
          label="What is listed"
          name="show"
          options={[
            ["known", "Known sites"],
            ["analyzed", "Analyzed of late"],
          ]}
        />
        {!isAnalyzed && (
          <Choice
            label="Known of what"
            name="scope"
            options={[
              ["", "Pages, hosts and domains"],
              ["exact", "Pages"],
              ["host", "Hosts"],
              ["domain", "Domains"],
            ]}
          />
        )}
      </div>
      <LookUp />
      {isAnalyzed ? <Analyzed /> : <Known />}
    </>
  );
};
