/** The trials of an analysis, with pictures of what they saw where the service gives them. */
import { useState } from "preact/hooks";
import { configurationName } from "../../../sites/configuration-name.ts";
import type { AnalysisState } from "../../../sites/site-wire.ts";
import { State, type Tone } from "./state.tsx";
import { plainText } from "./text.tsx";
import { span, Time } from "./time.tsx";

type Trial = AnalysisState["trials"][number];

const verdicts: Record<Trial["verdict"], [tone: Tone, word: string]> = {
  accessed: ["good", "Reached it"],
  blocked: ["bad", "Refused"],
  inconclusive: ["warn", "Says nothing"],
};

/** A picture, left out when there is none: the service keeps it for some trials, and serves it in local mode only. */
const Picture = ({ src, of }: { src: string; of: string }) => {
  const [isThere, setThere] = useState(true);
  return isThere ? <img class="shot" loading="lazy" src={src} alt={of} onError={() => setThere(false)} /> : null;
};

/** The trials in their order. */
export const Trials = ({ analysis: { id, run, trials } }: { analysis: AnalysisState }) => (
  <ol class="trials">
    {trials.map((trial, index) => {
      const [tone, word] = verdicts[trial.verdict];
      const name = configurationName(trial);
      return (
        <li key={trial.started_at}>
          <p>
            <State tone={tone}>{word}</State> <b>{name}</b>
          </p>
          <p class="muted">
            <bdi>{plainText(trial.reason.replaceAll("_", " "))}</bdi>
            {trial.http_status !== undefined && `, status ${trial.http_status}`}, in {span(trial.duration_ms)},{" "}
            <Time at={trial.started_at} />
          </p>
          <Picture src={`/registry/screenshots/${id}/${index}?run=${run}`} of={`What the trial with ${name} saw`} />
        </li>
      );
    })}
  </ol>
);
