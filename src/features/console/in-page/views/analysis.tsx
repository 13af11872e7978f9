/** One analysis: what its trials found so far, and what is recommended now. */
import type { AnalysisAnswer } from "../../../sites/site-wire.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { Show } from "../parts/fetched.tsx";
import { Problem } from "../parts/notice.tsx";
import { Facts, ObjectHead } from "../parts/object-page.tsx";
import { AnalysisOutcome, Recommendation } from "../parts/site-words.tsx";
import { Stand } from "../parts/stand.tsx";
import { plainText } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { Trials } from "../parts/trials.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { useFetched } from "../service/use-fetched.ts";

const AnalysisView = ({ of: { analysis, target, recommendation } }: { of: AnalysisAnswer }) => (
  <>
    <ObjectHead name={target.normalized}>
      <AsCodeButton
        of={{
          title: `${plainText(target.normalized)} as code`,
          curl: { method: "POST", path: "/config-registry/resolve", body: { url: target.normalized } },
          sdk: `post("/config-registry/resolve", { body: ${JSON.stringify({ url: target.normalized })} })`,
        }}
      />
    </ObjectHead>
    <Stand state={<AnalysisOutcome of={analysis} />}>
      <bdi>{plainText(analysis.failure?.message ?? analysis.message ?? "")}</bdi>
    </Stand>
    <Recommendation of={recommendation} />
    <Facts
      of={{
        Run: analysis.run,
        "Asked for": <Time at={analysis.created_at} />,
        Began: <Time at={analysis.started_at} />,
        Ended: <Time at={analysis.finished_at} />,
        "Ends at the latest": analysis.finished_at === null && <Time at={analysis.expires_at} />,
        "What is known": <a href={to(["sites", "exact", target.normalized])}>of this page</a>,
      }}
    />
    <section>
      <h2>Trials</h2>
      {analysis.trials.length === 0 ? <p class="muted">None yet.</p> : <Trials analysis={analysis} />}
    </section>
  </>
);

/** The analysis with this id. */
export const View = ({ id }: { id: string }) => {
  const fetched = useFetched(
    `analysis ${id}`,
    (signal) => call<AnalysisAnswer>("GET", `/config-registry/analyses/${inPath(id)}`, { signal }),
    { everyMs: 3000 },
  );
  if (fetched.data === undefined)
    return (
      <>
        <h1 tabIndex={-1}>Analysis</h1>
        {fetched.error === undefined ? <Show fetched={fetched}>{() => null}</Show> : <Problem error={fetched.error} />}
        <p>
          <a href={to(["sites"])}>All sites</a>
        </p>
      </>
    );
  return <Show fetched={fetched}>{(of) => <AnalysisView of={of} />}</Show>;
};
