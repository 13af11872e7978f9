/** What an audit line says, in words and links. Its texts come from others: a path may hold any name. */
import type { ComponentChildren } from "preact";
import type { AuditLine, RecentLine } from "../../../../platform/audit/audit-line.ts";
import { to } from "../router.ts";
import { may } from "../service/session.ts";
import { counted } from "../service/words.ts";
import { State, type Tone } from "./state.tsx";
import { Text } from "./text.tsx";

const tones: Record<AuditLine["result"], Tone> = { done: "good", repeated: "quiet", refused: "warn", failed: "bad" };

/** Names by ids, as far as they are known. */
export type Names = ReadonlyMap<string, string>;

/** The key of a line, by its name; undefined: the line says nothing of keys. */
export const Who = ({ line, names }: { line: RecentLine; names: Names }) => {
  if (!("key_id" in line)) return <span class="muted">any key</span>;
  const { key_id: id } = line;
  if (id === null) return <span class="muted">no known key</span>;
  const name = names.get(id);
  return (
    <a href={to(["api-keys", id])}>
      <Text of={name ?? id} mono={name === undefined} />
    </a>
  );
};

/** The project of a line, by its name. */
export const Where = ({ line, names }: { line: RecentLine; names: Names }) => {
  if (!("project" in line) || line.project === null) return <span class="muted">none</span>;
  const { project } = line;
  return (
    <a href={to(["projects", project])}>
      <Text of={names.get(project) ?? project} />
    </a>
  );
};

/** What was done, or how many lines stand for it. */
export const What = ({ line }: { line: RecentLine }) => {
  if ("verb" in line) return <Text of={line.verb} mono />;
  const count = "suppressed" in line ? line.suppressed : line.left_out;
  return <>{counted(count, "line")} left out</>;
};

/** How it ended. */
export const Outcome = ({ line }: { line: RecentLine }) =>
  "verb" in line ? (
    <>
      <State tone={tones[line.result]}>{line.result}</State> <span class="muted">{line.status}</span>
    </>
  ) : (
    <State tone="warn">too many</State>
  );

/** The session of a line, as a link where the person may see it. */
export const SessionLink = ({ line }: { line: RecentLine }): ComponentChildren => {
  if (!("session" in line) || line.session === undefined) return null;
  const { session, project } = line;
  if (project === null || !may("pools:read")) return <Text of={session} mono />;
  return (
    <a href={to(["sessions", session], { project })}>
      <Text of={session} mono />
    </a>
  );
};

/** Why lines are missing, of a line that counts them. */
export const whyLeftOut = (line: RecentLine): string | undefined => {
  if ("suppressed" in line) return "Calls of this key that were refused or failed: too many of them came at once.";
  if ("left_out" in line)
    return "These lines are only in the audit stream, on stdout or in its file: too many came at once, or Redis was away.";
  return undefined;
};
