/** What is known of a site, in words and bars. */
import { configurationName } from "../../../sites/configuration-name.ts";
import type { AnalysisState, LookupAnswer, SiteAnswer } from "../../../sites/site-wire.ts";
import { ShareBar } from "./share-bar.tsx";
import { State, type Tone } from "./state.tsx";
import { plainText } from "./text.tsx";
import { Time } from "./time.tsx";

type Evidence = SiteAnswer["configurations"][number]["evidence"];

/** A share as people read it. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** How many trials reached the site. */
export const EvidenceBar = ({ of: { accessed, blocked, inconclusive } }: { of: Evidence }) => (
  <ShareBar
    parts={[
      { tone: "good", count: accessed, word: "reached it" },
      { tone: "bad", count: blocked, word: "were refused" },
      { tone: "quiet", count: inconclusive, word: "say nothing" },
    ]}
  />
);

const scopes = { exact: "this page", host: "its host", domain: "its domain" } as const;

/** What is recommended, and why. */
export const Recommendation = ({ of }: { of: LookupAnswer["recommendation"] }) => {
  if (of === null)
    return (
      <p>
        <State tone="quiet">Nothing to recommend</State> No configuration is known that works.
      </p>
    );
  if (of.type === "no_recommendation")
    return (
      <p>
        <State tone="warn">Nothing to recommend</State> <bdi>{plainText(of.message)}</bdi>
      </p>
    );
  const { success_rate, accessed, sample_size, last_observed_at } = of.evidence;
  return (
    <p>
      <State tone="good">Recommended</State> <b>{configurationName(of)}</b>, since {accessed} of {sample_size} judged
      trials of {scopes[of.match_scope]} (<bdi>{plainText(of.matched_target)}</bdi>) reached it: {percent(success_rate)}
      , the last <Time at={last_observed_at} />.
    </p>
  );
};

const outcomes: Record<NonNullable<AnalysisState["outcome"]>, [tone: Tone, word: string]> = {
  recommendation: ["good", "Something works"],
  target_not_evaluable: ["warn", "Can't be judged"],
  no_working_configuration: ["bad", "Nothing works"],
  inconclusive: ["warn", "Not clear"],
};

/** How far an analysis is, or what came of it. */
export const AnalysisOutcome = ({ of: { status, outcome, started_at } }: { of: AnalysisState }) => {
  if (status === "running")
    return <State tone="quiet">{started_at === undefined ? "Waits for a browser" : "Running"}</State>;
  if (status === "failed") return <State tone="bad">Failed</State>;
  const [tone, word] = outcome ? outcomes[outcome] : (["quiet", "Ended"] as const);
  return <State tone={tone}>{word}</State>;
};
