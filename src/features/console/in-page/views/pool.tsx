/** One pool: what it has and shall have, and why not; its sessions; how it was since the window opened. */
import { useState } from "preact/hooks";
import type { PoolEvent } from "../../../../core/pools/use-cases/pool-events.ts";
import type { QueuedSession } from "../../../../core/pools/use-cases/pool-queue.ts";
import { AsCodeButton, Code } from "../parts/as-code.tsx";
import { Chart } from "../parts/chart.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ask } from "../parts/dialog.tsx";
import { Show } from "../parts/fetched.tsx";
import { attempt } from "../parts/notice.tsx";
import { Facts, ObjectHead } from "../parts/object-page.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { PoolBar } from "../parts/pool-bar.tsx";
import { PoolForm } from "../parts/pool-form.tsx";
import { Reading } from "../parts/reading.tsx";
import { sessionColumns } from "../parts/session-columns.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { now, Since, Time } from "../parts/time.tsx";
import { go, to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { codeText } from "../service/code-text.ts";
import { link, pools, sessions } from "../service/live.ts";
import { poolManifest } from "../service/manifests.ts";
import { historyVersion, looksAt } from "../service/pool-history.ts";
import { type Pool, poolCounts, poolName, poolState } from "../service/pool-state.ts";
import { may } from "../service/session.ts";
import { useFetched } from "../service/use-fetched.ts";

const Actions = ({ pool }: { pool: Pool }) => {
  const [isChanging, setChanging] = useState(false);
  const path = `/browser_pools/${inPath(pool.id)}`;
  const name = plainText(poolName(pool));
  const flush = async (): Promise<void> => {
    const text = `Its ${pool.available_count} idle browsers are destroyed and started anew at the fill rate. Sessions go on.`;
    if (await ask({ title: `Flush ${name}?`, text, action: "Flush" }))
      await attempt(() => call("POST", `${path}/flush`), `The idle browsers of ${name} are destroyed.`);
  };
  const discard = async (): Promise<void> => {
    const text = "Its idle browsers are replaced at once by browsers with the present settings. Sessions go on.";
    if (await ask({ title: `Discard the idle browsers of ${name}?`, text, action: "Discard" }))
      await attempt(
        () => call("PATCH", path, { body: { discard_all_idle: true } }),
        `The idle browsers of ${name} are replaced.`,
      );
  };
  const remove = async (): Promise<void> => {
    const held = pool.acquired_count;
    const text =
      held > 0 ? `Its ${held} sessions end at once, and its browsers are destroyed.` : "Its browsers are destroyed.";
    if (!(await ask({ title: `Delete ${name}?`, text, action: "Delete the pool" }))) return;
    if (await attempt(() => call("DELETE", path, { body: { force: held > 0 } }), `Pool ${name} is deleted.`))
      go(to(["pools"]));
  };
  const mayChange = may("pools:write") && pool.managed_by === undefined;
  return (
    <ObjectHead name={poolName(pool)}>
      {mayChange && (
        <>
          <button type="button" onClick={() => setChanging(true)}>
            Change
          </button>
          <button type="button" onClick={() => void flush()}>
            Flush
          </button>
          <button type="button" onClick={() => void discard()}>
            Discard idle browsers
          </button>
        </>
      )}
      <AsCodeButton
        of={{
          title: `${name} as code`,
          yaml: poolManifest(pool),
          curl: { method: "POST", path: "/browser_pools", body: pool.browser_pool_config },
          sdk: `browserPools.create(${JSON.stringify(pool.browser_pool_config, null, 2)})`,
        }}
      />
      {mayChange && (
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
      )}
      {isChanging && <PoolForm pool={pool} onClose={() => setChanging(false)} />}
    </ObjectHead>
  );
};

const Why = ({ pool }: { pool: Pool }) => {
  const { tone, word, why } = poolState(pool);
  const { size, available, held } = poolCounts(pool);
  return (
    <p class="why-line">
      <State tone={tone}>{word}</State>{" "}
      <span>
        Wanted {size}, ready {available + held}
        {why === "" ? "." : ", because "}
        {why !== "" && <bdi>{plainText(why)}</bdi>}
      </span>
    </p>
  );
};

/** Why the page offers no change of a pool that Git owns. */
const Owner = ({ pool }: { pool: Pool }) =>
  pool.managed_by === undefined ? null : (
    <p>
      Managed by <Text of={pool.managed_by} />: it is changed there, and not here.
    </p>
  );

/** The callers that wait, while there are any. */
const Queue = ({ pool }: { pool: Pool }) => {
  const isRead = pool.waiting_count > 0;
  const fetched = useFetched(
    `queue ${pool.id}`,
    (signal): Promise<QueuedSession[]> =>
      isRead ? call("GET", `/browser_pools/${inPath(pool.id)}/queue`, { signal }) : Promise.resolve([]),
    { version: String(isRead), ...(isRead && { everyMs: 2000 }) },
  );
  if (!isRead) return null;
  return (
    <section>
      <h2>Queue</h2>
      <Show fetched={fetched}>
        {(queue) => (
          <PlainTable label="Queue" head={["Place", "Session to be", "Waits"]}>
            {queue.map(({ session_id, name, requested_at }, index) => (
              <tr key={session_id}>
                <td>{index + 1}</td>
                <td>
                  <Text of={name ?? session_id} />
                </td>
                <td>{requested_at ? <Since at={requested_at} /> : "not known"}</td>
              </tr>
            ))}
          </PlainTable>
        )}
      </Show>
    </section>
  );
};

/** What Kubernetes says of the pool and warns of its pods; read again when the pool's conditions change. */
const Events = ({ pool }: { pool: Pool }) => {
  const said = pool.conditions.map(({ message }) => message).join();
  const fetched = useFetched(
    `events ${pool.id}`,
    (signal) => call<PoolEvent[]>("GET", `/browser_pools/${inPath(pool.id)}/events`, { signal }),
    { version: said, everyMs: 30_000 },
  );
  return (
    <section>
      <h2>Events</h2>
      <Show fetched={fetched}>
        {(events) =>
          events.length === 0 ? (
            <p class="muted">None within the last hour.</p>
          ) : (
            <PlainTable label="Events" head={["Seen", "Reason", "About", "What it says"]}>
              {events.map(({ type, reason, message, kind, name, node, count, last_seen_at }) => (
                <tr key={`${name} ${reason} ${message}`}>
                  <td>
                    <Time at={last_seen_at} />
                    {count > 1 ? `, ${count} times` : ""}
                  </td>
                  <td>
                    <State tone={type === "Warning" ? "warn" : "quiet"}>{plainText(reason)}</State>
                  </td>
                  <td>
                    {kind} <Text of={name} mono />
                    {node ? ` on ${plainText(node)}` : ""}
                  </td>
                  <td class="wrap">
                    <bdi>{plainText(message)}</bdi>
                  </td>
                </tr>
              ))}
            </PlainTable>
          )
        }
      </Show>
    </section>
  );
};

const Conditions = ({ pool }: { pool: Pool }) => (
  <section>
    <h2>Conditions</h2>
    <PlainTable label="Conditions" head={["Condition", "Status", "Reason", "Since", "What the operator says"]}>
      {(pool.conditions ?? []).map(({ type, status, reason, message, last_transition_time }) => (
        <tr key={type}>
          <th scope="row">{type}</th>
          <td>{status}</td>
          <td>{reason}</td>
          <td>
            <Time at={last_transition_time} />
          </td>
          <td class="wrap">
            <bdi>{plainText(message)}</bdi>
          </td>
        </tr>
      ))}
    </PlainTable>
  </section>
);

const History = ({ pool }: { pool: Pool }) => {
  historyVersion.value;
  const looks = looksAt(pool.id, now.value);
  return (
    <Chart
      label={`Browsers of ${plainText(poolName(pool))}`}
      times={looks.map(({ at }) => at)}
      series={[
        { name: "Available", tone: "one", values: looks.map(({ available }) => available) },
        { name: "Held", tone: "two", values: looks.map(({ held }) => held) },
        { name: "Starting", tone: "three", values: looks.map(({ starting }) => starting) },
        { name: "Waiting", tone: "four", values: looks.map(({ waiting }) => waiting) },
      ]}
    />
  );
};

const Acquire = ({ pool }: { pool: Pool }) => (
  <details>
    <summary>Acquire a browser of this pool</summary>
    <Code
      of={{
        title: "Acquire",
        curl: {
          method: "POST",
          path: `/browser_pools/${inPath(poolName(pool))}/acquire`,
          body: { acquire_timeout_seconds: 30 },
        },
        sdk: `browserPools.acquire(${JSON.stringify(poolName(pool))}, { acquire_timeout_seconds: 30 })`,
      }}
    />
  </details>
);

const PoolView = ({ pool }: { pool: Pool }) => {
  sessions.version.value;
  const held = [...sessions.byId.values()].filter((session) => session.pool?.id === pool.id);
  return (
    <>
      <Actions pool={pool} />
      <Why pool={pool} />
      <Owner pool={pool} />
      <PoolBar pool={pool} />
      <History pool={pool} />
      <Facts
        of={{
          Id: <code>{pool.id}</code>,
          Region: pool.region,
          Made: <Time at={pool.created_at} />,
          "Fill rate": `${pool.browser_pool_config.fill_rate_per_minute} % a minute`,
        }}
      />
      {may("browsers:use") && <Acquire pool={pool} />}
      <Queue pool={pool} />
      <section>
        <h2>Sessions</h2>
        <Table
          label="Sessions of this pool"
          rows={held.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))}
          columns={sessionColumns.filter(({ key }) => key !== "pool")}
          keyOf={({ session_id }) => session_id}
          empty={<p>Nobody holds a browser of this pool.</p>}
        />
      </section>
      <Conditions pool={pool} />
      <Events pool={pool} />
      <section>
        <h2>Settings</h2>
        <CodeBlock label="Settings" text={codeText(JSON.stringify(pool.browser_pool_config, null, 2))} />
      </section>
    </>
  );
};

/** The pool with this id or name. */
export const View = ({ id }: { id: string }) => {
  pools.version.value;
  const pool = pools.byId.get(id) ?? [...pools.byId.values()].find(({ name }) => name === id);
  if (pool) return <PoolView pool={pool} />;
  const isKnown = link.value.state === "live";
  return (
    <>
      <h1 tabIndex={-1}>Pool</h1>
      {isKnown ? (
        <p>
          This project has no pool <Text of={id} />. It may have been deleted. <a href={to(["pools"])}>All pools</a>
        </p>
      ) : (
        <Reading />
      )}
    </>
  );
};
