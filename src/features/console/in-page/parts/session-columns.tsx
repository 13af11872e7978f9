import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import { to } from "../router.ts";
import { State } from "./state.tsx";
import type { Column } from "./table.tsx";
import { Text } from "./text.tsx";
import { Since, Time } from "./time.tsx";

/** The name of a session, or its id. */
export const sessionName = ({ name, session_id }: Pick<Session, "name" | "session_id">): string => name || session_id;

/** Why sessions end, for people. */
const reasons: Record<string, string> = {
  released: "released",
  deleted: "ended by a caller",
  timeout: "nobody was connected",
  max_lifetime: "its longest life was over",
  browser_crashed: "the browser crashed",
  browser_lost: "the browser was lost",
  pool_deleted: "its pool was deleted",
  node_drained: "its node was drained",
  pod_deleted: "its pod was deleted",
};

/** Why a session has ended, in words. */
export const endedBecause = ({ end_reason = "unknown" }: Pick<Session, "end_reason">): string =>
  reasons[end_reason] ?? end_reason;

const isFault = (reason = ""): boolean => reason === "browser_crashed" || reason === "browser_lost";

/** A session as a state. */
export const SessionState = ({ of }: { of: Session }) =>
  of.deleted_at === undefined ? (
    <State tone="good">Active</State>
  ) : (
    <>
      <State tone={isFault(of.end_reason) ? "bad" : "quiet"}>Ended</State> <span class="muted">{endedBecause(of)}</span>
    </>
  );

const Tags = ({ of }: { of: Session }) => (
  <span class="tags">
    {Object.entries(of.tags ?? {}).map(([name, value]) => (
      <span key={name} class="tag">
        <Text of={`${name}=${value}`} />
      </span>
    ))}
  </span>
);

/** The columns of tables of sessions. */
export const sessionColumns: readonly Column<Session>[] = [
  {
    key: "name",
    title: "Session",
    cell: (session) => (
      <a href={to(["sessions", session.session_id])}>
        <Text of={sessionName(session)} mono={!session.name} />
      </a>
    ),
    sortBy: (session) => sessionName(session).toLowerCase(),
  },
  {
    key: "state",
    title: "State",
    cell: (session) => <SessionState of={session} />,
    sortBy: ({ end_reason = "" }) => end_reason,
  },
  {
    key: "pool",
    title: "Pool",
    cell: ({ pool }) => (pool ? <Text of={pool.name ?? pool.id} /> : <span class="muted">on demand</span>),
    sortBy: ({ pool }) => pool?.name ?? pool?.id ?? "",
  },
  { key: "tags", title: "Tags", cell: (session) => <Tags of={session} />, isLow: true },
  {
    key: "began",
    title: "Began",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
    isLow: true,
  },
  {
    key: "lasted",
    title: "Lasts",
    cell: ({ created_at, deleted_at }) => <Since at={created_at} until={deleted_at} />,
    sortBy: ({ created_at, deleted_at }) => (deleted_at ? Date.parse(deleted_at) : Date.now()) - Date.parse(created_at),
    isNumber: true,
  },
  { key: "region", title: "Region", cell: ({ region }) => region, sortBy: ({ region = "" }) => region, isLow: true },
  {
    key: "id",
    title: "Id",
    cell: ({ session_id }) => <Text of={session_id} mono />,
    sortBy: ({ session_id }) => session_id,
  },
];
