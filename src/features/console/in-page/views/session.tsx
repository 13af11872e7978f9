/** One session: who holds it, its whole story on one axis, and its recording in step with it. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import type { Replay } from "../../../recordings/recording-wire.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { Chart } from "../parts/chart.tsx";
import { ask } from "../parts/dialog.tsx";
import { Show } from "../parts/fetched.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { attempt, Problem } from "../parts/notice.tsx";
import { Facts, ObjectHead } from "../parts/object-page.tsx";
import { Reading } from "../parts/reading.tsx";
import { SessionState, sessionName } from "../parts/session-columns.tsx";
import { State } from "../parts/state.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { exactTime, now, Since, span, Time } from "../parts/time.tsx";
import { query, setFilter, to } from "../router.ts";
import { call, inPath, project } from "../service/api.ts";
import { sessions } from "../service/live.ts";
import { may } from "../service/session.ts";
import { type Happening, type Lane, lanes, storyBegin, storyOf, usageOf } from "../service/story.ts";
import { useFetched } from "../service/use-fetched.ts";
import { useLog, useStory } from "../service/use-story.ts";

/** The permission that this key lacks for what the session does; undefined: none. */
const lackedFor = ({ vaults = [] }: Session): string | undefined => {
  if (!may("browsers:use")) return "browsers:use";
  return vaults.length > 0 && !may("vaults:fill") ? "vaults:fill, as the session has a vault" : undefined;
};

const timeForm = ({ session_id, timeout_seconds }: Session): Form => ({
  title: "Give it more time",
  intro: "The session ends when nobody has been connected to its browser for this long, counted from now on.",
  fields: [
    {
      ...{ name: "timeout_seconds", label: "Seconds without a connection", kind: "number", isRequired: true },
      ...{ initial: timeout_seconds, min: 10, max: 259_200, hint: "3600 is an hour, 86400 a day." },
    },
  ],
  action: "Change the time",
  async send(given) {
    const { timeout_seconds: seconds } = await call<Session>("PATCH", `/browsers/${inPath(session_id)}`, {
      body: given,
    });
    return { said: `It ends after ${span(seconds * 1000)} without a connection.` };
  },
});

const Actions = ({ session }: { session: Session }) => {
  const id = session.session_id;
  const name = plainText(sessionName(session));
  const end = async (): Promise<void> => {
    const text = "Its browser is destroyed, and its holder is cut off.";
    if (await ask({ title: `End ${name}?`, text, action: "End the session" }))
      await attempt(() => call("DELETE", `/browsers/${inPath(id)}`), `Session ${name} has ended.`);
  };
  const isActive = session.deleted_at === undefined;
  return (
    <ObjectHead name={sessionName(session)}>
      {isActive && session.browser_live_view_url && (
        <a class="button" href={session.browser_live_view_url} target="_blank" rel="noopener">
          Take over
        </a>
      )}
      {isActive && session.browser_live_view_read_only_url && (
        <a class="button" href={session.browser_live_view_read_only_url} target="_blank" rel="noopener">
          Watch
        </a>
      )}
      {may("organization") && (
        <a class="button" href={to(["audit"], { session: id, ...(project.value && { of: project.value }) })}>
          Who did what
        </a>
      )}
      <AsCodeButton
        of={{
          title: `${name} as code`,
          curl: { method: "GET", path: `/browsers/${inPath(id)}` },
          sdk: `browsers.retrieve(${JSON.stringify(id)})`,
        }}
      />
      {isActive && lackedFor(session) === undefined && <FormButton word="Give it more time" form={timeForm(session)} />}
      {isActive && may("browsers:use") && (
        <button type="button" class="danger" onClick={() => void end()}>
          End
        </button>
      )}
    </ObjectHead>
  );
};

const SessionFacts = ({ session }: { session: Session }) => {
  const { pool, profile, proxy, tags = {} } = session;
  return (
    <Facts
      of={{
        Id: <code>{session.session_id}</code>,
        Pool: pool ? (
          <a href={to(["pools", pool.id])}>
            <Text of={pool.name ?? pool.id} />
          </a>
        ) : (
          "on demand"
        ),
        Began: <Time at={session.created_at} />,
        [session.deleted_at ? "Lasted" : "Lasts"]: <Since at={session.created_at} until={session.deleted_at} />,
        "Ends without a connection after": span(session.timeout_seconds * 1000),
        Profile: profile && (
          <>
            <Text of={profile.name ?? profile.id} />
            {session.profile_save_changes ? ", saved at the end" : ""}
          </>
        ),
        Proxy: proxy && <code>{proxy.id}</code>,
        ...Object.fromEntries(
          Object.entries(tags).map(([name, value]) => [`Tag ${plainText(name)}`, <Text key={name} of={value} />]),
        ),
      }}
    />
  );
};

const axisWidth = 1000;
const laneHeight = 22;

/** The axis: a dot for what happened, in its lane. The list beside it says the same in words. */
const Axis = ({ story, from, until }: { story: readonly Happening[]; from: number; until: number }) => {
  const x = (at: number): number => ((at - from) / Math.max(1, until - from)) * axisWidth;
  const used = lanes.filter((lane) => story.some((each) => each.lane === lane));
  return (
    <div class="axis">
      <ul aria-hidden="true">
        {used.map((lane) => (
          <li key={lane}>{lane}</li>
        ))}
      </ul>
      <svg
        viewBox={`0 0 ${axisWidth} ${used.length * laneHeight}`}
        preserveAspectRatio="none"
        style={{ height: `${used.length * laneHeight}px` }}
        role="img"
        aria-label={`${story.length} events in ${span(until - from)}; the list below tells them in words`}
      >
        {story.map(({ key, at, lane, tone }) => {
          const y = used.indexOf(lane) * laneHeight;
          return (
            <line
              key={key}
              class={`tick ${tone}`}
              x1={x(at)}
              x2={x(at)}
              y1={y + 4}
              y2={y + laneHeight - 4}
              vector-effect="non-scaling-stroke"
            />
          );
        })}
      </svg>
      <p class="muted ends">
        <span>{exactTime(from)}</span>
        <span>{exactTime(until)}</span>
      </p>
    </div>
  );
};

/** What is shown at once; the filter and the axis find what is older. */
const mostShown = 500;

type Seek = ((at: number) => void) | undefined;

const HappeningList = ({ story, from, seek }: { story: readonly Happening[]; from: number; seek: Seek }) => {
  const shown = story.slice(-mostShown);
  return (
    <>
      {shown.length < story.length && (
        <p class="muted">
          The last {shown.length} of {story.length}.
        </p>
      )}
      <ol class="story">
        {shown.map(({ key, at, lane, tone, text }) => (
          <li key={key}>
            <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
              {seek ? (
                <button type="button" class="bare" title="Show this in the recording" onClick={() => seek(at)}>
                  +{span(at - from)}
                </button>
              ) : (
                `+${span(at - from)}`
              )}
            </time>
            <State tone={tone}>{lane}</State>
            <bdi class="wrap">{plainText(text)}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
};

const isLogWanted = (): boolean => query.value.get("log") === "true";

const LaneChoice = ({ story, hasLog }: { story: readonly Happening[]; hasLog: boolean }) => {
  const hidden = hiddenLanes();
  const toggle = (lane: Lane): void => {
    const next = hidden.includes(lane) ? hidden.filter((each) => each !== lane) : [...hidden, lane];
    setFilter("without", next.join("."));
  };
  const used = lanes.filter((lane) => lane !== "Log" && story.some((each) => each.lane === lane));
  return (
    <fieldset class="row lanes">
      <legend class="unseen">What is shown</legend>
      {used.map((lane) => (
        <label key={lane} class="flag">
          <input type="checkbox" checked={!hidden.includes(lane)} onChange={() => toggle(lane)} />
          {lane}
        </label>
      ))}
      {hasLog && (
        <label class="flag">
          <input
            type="checkbox"
            checked={isLogWanted()}
            onChange={() => setFilter("log", isLogWanted() ? "" : "true")}
          />
          Log
        </label>
      )}
    </fieldset>
  );
};

const hiddenLanes = (): string[] => query.value.get("without")?.split(".").filter(Boolean) ?? [];

/** The recordings; `onPlayer`: what a chosen one can be moved by. */
const Recordings = ({ session, onPlayer }: { session: Session; onPlayer: (seek: Seek) => void }) => {
  const id = session.session_id;
  const fetched = useFetched(
    `replays ${id}`,
    (signal) =>
      call<Replay[]>("GET", `/browsers/${inPath(id)}/replays`, { query: { include_deleted: "true" }, signal }),
    { everyMs: 10_000 },
  );
  const [chosen, setChosen] = useState<string>();
  const player = useRef<HTMLVideoElement>(null);
  const isActive = session.deleted_at === undefined;
  const start = (): Promise<boolean> =>
    attempt(() => call("POST", `/browsers/${inPath(id)}/replays`, { body: {} }), "The recording has begun.").finally(
      fetched.again,
    );
  const stop = (replay: string): Promise<boolean> =>
    attempt(
      () => call("POST", `/browsers/${inPath(id)}/replays/${inPath(replay)}/stop`),
      "The recording has ended.",
    ).finally(fetched.again);
  return (
    <section>
      <h2>Recordings</h2>
      <Show fetched={fetched}>
        {(replays) => {
          const shown = replays.find(({ replay_id }) => replay_id === chosen);
          const running = replays.find(
            ({ finished_at, end_reason }) => finished_at === null && end_reason === undefined,
          );
          return (
            <>
              <div class="row">
                {replays.map(({ replay_id, started_at, finished_at, end_reason }) => (
                  <button
                    key={replay_id}
                    type="button"
                    disabled={finished_at === null}
                    onClick={() => {
                      setChosen(replay_id);
                      onPlayer((at) => {
                        if (player.current)
                          player.current.currentTime = Math.max(0, (at - Date.parse(started_at)) / 1000);
                      });
                    }}
                  >
                    {finished_at === null ? (end_reason ?? "Recording …") : "Play"} <Time at={started_at} />
                  </button>
                ))}
                {isActive && !running && (
                  <button type="button" onClick={() => void start()}>
                    Record
                  </button>
                )}
                {running && (
                  <button type="button" onClick={() => void stop(running.replay_id)}>
                    Stop recording
                  </button>
                )}
                {replays.length === 0 && !isActive && <p class="muted">None was made.</p>}
              </div>
              {shown && (
                // biome-ignore lint/a11y/useMediaCaption: recordings have no sound
                <video ref={player} class="recording" controls src={shown.replay_view_url} aria-label="Recording" />
              )}
            </>
          );
        }}
      </Show>
    </section>
  );
};

/** What the story shows beside what is captured anyway. */
const storyTelemetry = {
  browser: Object.fromEntries(
    ["console", "network", "page", "platform"].map((category) => [category, { enabled: true }]),
  ),
};

const WithoutTelemetry = ({ session: { session_id, deleted_at } }: { session: Session }) => {
  const capture = (): Promise<boolean> =>
    attempt(
      () => call("PATCH", `/browsers/${inPath(session_id)}`, { body: { telemetry: storyTelemetry } }),
      "Telemetry is captured from now on.",
    );
  return (
    <div class="row">
      <p class="muted">
        Telemetry is not captured for this session, so only its begin and its end are known. Set telemetry on the pool
        or when you acquire.
      </p>
      {deleted_at === undefined && (
        <button type="button" onClick={() => void capture()}>
          Capture from now on
        </button>
      )}
    </div>
  );
};

const Story = ({ session }: { session: Session }) => {
  const isActive = session.deleted_at === undefined;
  const { items: records, isWhole, error } = useStory(session.session_id, !isActive);
  const chromium = useLog("chromium", session.session_id, isActive && isLogWanted());
  const agent = useLog("agent", session.session_id, isActive && isLogWanted());
  const [seek, setSeek] = useState<{ to: Seek }>({ to: undefined });
  const problem = error ?? chromium.error ?? agent.error;
  const story = useMemo(
    () => storyOf(session, records, [...chromium.items, ...agent.items]),
    [session, records, chromium.items, agent.items],
  );
  const usage = useMemo(() => usageOf(records), [records]);
  const hidden = hiddenLanes();
  const shown = story.filter(({ lane }) => !hidden.includes(lane));
  const from = storyBegin(session);
  const until = session.deleted_at ? Date.parse(session.deleted_at) : now.value;
  return (
    <>
      <Recordings session={session} onPlayer={(to) => setSeek({ to })} />
      <section>
        <h2>Story</h2>
        {problem !== undefined && <Problem error={problem} />}
        {!session.telemetry && <WithoutTelemetry session={session} />}
        <LaneChoice story={story} hasLog={isActive} />
        <Axis story={shown} from={from} until={until} />
        {usage.length > 1 && (
          <div class="charts">
            <Chart
              label="Memory"
              times={usage.map(({ at }) => at)}
              series={[{ name: "Memory, MiB", tone: "one", values: usage.map(({ memoryMb }) => memoryMb) }]}
            />
            <Chart
              label="Processor"
              times={usage.map(({ at }) => at)}
              series={[{ name: "Processors", tone: "two", values: usage.map(({ cpu }) => cpu) }]}
            />
          </div>
        )}
        <HappeningList story={shown} from={from} seek={seek.to} />
        {!isWhole && session.deleted_at && <Reading />}
      </section>
    </>
  );
};

const SessionView = ({ session }: { session: Session }) => {
  const needed = lackedFor(session);
  return (
    <>
      <Actions session={session} />
      <p>
        <SessionState of={session} />
      </p>
      <SessionFacts session={session} />
      {needed === undefined ? (
        <Story session={session} />
      ) : (
        <p class="muted">Its story needs the permission {needed}.</p>
      )}
    </>
  );
};

/** The session with this id, active or ended. */
export const View = ({ id }: { id: string }) => {
  sessions.version.value;
  const live = sessions.byId.get(id);
  const isActive = live !== undefined;
  const fetched = useFetched(
    `session ${id}`,
    (signal) => call<Session>("GET", `/browsers/${inPath(id)}`, { query: { include_deleted: "true" }, signal }),
    { version: JSON.stringify({ ...live, usage: undefined }), everyMs: isActive ? 60_000 : 5000 },
  );
  if (fetched.data === undefined)
    return (
      <>
        <h1 tabIndex={-1}>Session</h1>
        <Show fetched={fetched}>{() => null}</Show>
        <a href={to(["sessions"])}>All sessions</a>
      </>
    );
  return <Show fetched={fetched}>{(session) => <SessionView session={session} />}</Show>;
};
