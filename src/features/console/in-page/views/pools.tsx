/** The pools of the project: how many browsers each has, who waits, and why one has fewer than it shall. */
import { useState } from "preact/hooks";
import { PoolBar } from "../parts/pool-bar.tsx";
import { PoolForm } from "../parts/pool-form.tsx";
import { Reading } from "../parts/reading.tsx";
import { Search } from "../parts/search.tsx";
import { State } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { go, query, to } from "../router.ts";
import { link, pools } from "../service/live.ts";
import { type Pool, poolName, poolState } from "../service/pool-state.ts";
import { may } from "../service/session.ts";

const columns: readonly Column<Pool>[] = [
  {
    key: "name",
    title: "Pool",
    cell: (pool) => (
      <a href={to(["pools", pool.id])}>
        <Text of={poolName(pool)} />
      </a>
    ),
    sortBy: (pool) => poolName(pool).toLowerCase(),
  },
  {
    key: "state",
    title: "State",
    cell: (pool) => {
      const { tone, word, why } = poolState(pool);
      return (
        <>
          <State tone={tone}>{word}</State>
          {why !== "" && (
            <span class="why muted">
              <Text of={why} />
            </span>
          )}
        </>
      );
    },
    sortBy: (pool) => poolState(pool).word,
  },
  { key: "use", title: "Use", cell: (pool) => <PoolBar pool={pool} />, isLow: true },
  {
    key: "available",
    title: "Available",
    cell: (pool) => pool.available_count,
    sortBy: (pool) => pool.available_count,
    isNumber: true,
  },
  {
    key: "held",
    title: "Held",
    cell: (pool) => pool.acquired_count,
    sortBy: (pool) => pool.acquired_count,
    isNumber: true,
  },
  {
    key: "waiting",
    title: "Waiting",
    cell: (pool) => pool.waiting_count,
    sortBy: (pool) => pool.waiting_count,
    isNumber: true,
  },
  {
    key: "size",
    title: "Size",
    cell: (pool) => pool.browser_pool_config.size,
    sortBy: (pool) => pool.browser_pool_config.size,
    isNumber: true,
  },
  {
    key: "created",
    title: "Made",
    cell: (pool) => <Time at={pool.created_at} />,
    sortBy: (pool) => pool.created_at,
    isLow: true,
  },
];

const Empty = ({ hasPools, make }: { hasPools: boolean; make: () => void }) => {
  if (hasPools) return <p>No pool has this in its name.</p>;
  if (link.value.state !== "live") return <Reading />;
  return (
    <>
      <p>
        <b>This project has no pool.</b> A pool keeps browsers warm, so that a program gets one in a moment.
      </p>
      {may("pools:write") && (
        <button type="button" class="primary" onClick={make}>
          Make a pool
        </button>
      )}
    </>
  );
};

/** All pools. */
export const View = () => {
  const [isMaking, setMaking] = useState(false);
  pools.version.value;
  const all = [...pools.byId.values()];
  const wanted = (query.value.get("query") ?? "").toLowerCase();
  const shown = all.filter((pool) => pool.id === wanted || poolName(pool).toLowerCase().includes(wanted));
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Pools</h1>
        <Search label="Name of a pool" />
        {may("pools:write") && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make a pool
          </button>
        )}
      </div>
      <Table
        label="Pools"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty hasPools={all.length > 0} make={() => setMaking(true)} />}
      />
      {isMaking && <PoolForm onClose={() => setMaking(false)} onDone={(id) => go(to(["pools", id]))} />}
    </>
  );
};
