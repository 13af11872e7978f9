/** Commands about pools and sessions. */

import { age, type Column, type Format, show } from "./output.ts";
import { CommandError, call, list, type Service } from "./service.ts";

type Pool = {
  id: string;
  name?: string | null;
  created_at: string;
  acquired_count: number;
  available_count: number;
  browser_pool_config: { size: number; headless: boolean };
};

type Session = {
  session_id: string;
  name?: string | null;
  created_at: string;
  headless: boolean;
  cdp_ws_url: string;
  browser_live_view_url?: string | null;
  pool?: { id: string; name?: string | null } | null;
};

type Asked = { service: Service; format: Format; signal: AbortSignal };

/** Most objects of a table; a larger installation is read by the API. */
const most = 1000;

const labelOf = ({ id, name }: { id: string; name?: string | null }): string => name || id;

const poolColumns: Column<Pool>[] = [
  ["NAME", labelOf],
  ["SIZE", ({ browser_pool_config: { size } }) => size],
  ["AVAILABLE", ({ available_count }) => available_count],
  ["ACQUIRED", ({ acquired_count }) => acquired_count],
  ["HEADLESS", ({ browser_pool_config: { headless } }) => String(headless)],
  ["AGE", ({ created_at }) => age(created_at, Date.now())],
];

const sessionColumns: Column<Session>[] = [
  ["SESSION", ({ session_id }) => session_id],
  ["NAME", ({ name }) => name ?? undefined],
  ["POOL", ({ pool }) => (pool ? labelOf(pool) : undefined)],
  ["HEADLESS", ({ headless }) => String(headless)],
  ["AGE", ({ created_at }) => age(created_at, Date.now())],
];

/** The text about a pool, or about all. */
export const showPools = async (name: string | undefined, { service, format, signal }: Asked): Promise<string> => {
  const path = "/browser_pools";
  const pools =
    name === undefined
      ? await list<Pool>(service, path, { most, signal })
      : [await call<Pool>(service, `${path}/${encodeURIComponent(name)}`, { signal })].filter((one) => !!one);
  const none = "no pools: make one by kubectl apply -f manifests/samples/pool.yaml, or by POST /browser_pools";
  return show(format, pools, { columns: poolColumns, nameOf: labelOf, none, isOne: name !== undefined });
};

const sessionOf = (service: Service, id: string, signal: AbortSignal): Promise<Session | undefined> =>
  call<Session>(service, `/browsers/${encodeURIComponent(id)}`, { signal });

/** The text about a session, or about all that run. */
export const showSessions = async (id: string | undefined, { service, format, signal }: Asked): Promise<string> => {
  const sessions =
    id === undefined
      ? await list<Session>(service, "/browsers", { most, signal })
      : [await sessionOf(service, id, signal)].filter((one) => !!one);
  const nameOf = ({ session_id }: Session): string => session_id;
  return show(format, sessions, { columns: sessionColumns, nameOf, none: "no sessions", isOne: id !== undefined });
};

/** Exit code of an acquire that got no browser in time. */
const noneInTime = 3;

/** Acquires a browser of a pool; waits for one up to `waitSeconds`. The text has the URLs of the session. */
export const acquire = async (
  pool: string,
  waitSeconds: number,
  { service, format, signal }: Asked,
): Promise<string> => {
  const session = await call<Session>(service, `/browser_pools/${encodeURIComponent(pool)}/acquire`, {
    method: "POST",
    body: { acquire_timeout_seconds: waitSeconds },
    waitMs: waitSeconds * 1000,
    signal,
  });
  if (!session) throw new CommandError(`no browser of ${pool} within ${waitSeconds} s`, noneInTime);
  if (format !== "table")
    return show(format, [session], { columns: [], nameOf: ({ session_id }) => session_id, none: "", isOne: true });
  return [
    `Session    ${session.session_id}`,
    `CDP        ${session.cdp_ws_url}`,
    ...(session.browser_live_view_url ? [`Live view  ${session.browser_live_view_url}`] : []),
  ].join("\n");
};

/** Ends a session: a browser of a pool goes back to it, any other one is deleted. `discard`: its pool gets a new one. */
export const release = async (id: string, discard: boolean, { service, signal }: Asked): Promise<string> => {
  const session = await sessionOf(service, id, signal);
  if (!session) throw new CommandError(`session ${id} is unknown`);
  const { session_id, pool } = session;
  if (!pool) {
    await call(service, `/browsers/${encodeURIComponent(session_id)}`, { method: "DELETE", signal });
    return `session ${session_id} ended`;
  }
  await call(service, `/browser_pools/${encodeURIComponent(pool.id)}/release`, {
    method: "POST",
    body: { session_id, reuse: !discard },
    signal,
  });
  return `session ${session_id} ended; pool ${labelOf(pool)} ${discard ? "makes a new browser" : "has its browser back"}`;
};
