import { grantedTo, isUsable, type StoredApiKey } from "../../core/api-keys/api-key-secret.ts";
import type { ApiKeys, Principal } from "../../core/api-keys/api-keys.ts";
import type { ServerEvent } from "../../core/http/route.ts";
import type { ProjectPermission } from "../../core/model/permission.ts";
import type { Project } from "../../core/projects/projects.ts";
import { type CurrentDeps, currentEvents } from "./current-events.ts";
import { eventJson } from "./event.ts";
import { type Feed, poolsRead } from "./feed.ts";
import type { EventFeeds } from "./feeds.ts";

/** Where a reader begins. `initial`: it gets all that there is first, unless it goes on where it was. */
type Asked = { lastEventId: string | undefined; initial: boolean };

type Deps = CurrentDeps & { apiKeys: ApiKeys; events: EventFeeds };

type May = (permission: ProjectPermission) => boolean;

/** What the key may read at this moment; nothing when it is gone. */
const rightsOf = ({ keyId }: Principal, { apiKeys }: { apiKeys: ApiKeys }): May => {
  let record: StoredApiKey | undefined;
  let granted = new Set() as ReturnType<typeof grantedTo>;
  return (permission) => {
    const now = apiKeys.find(keyId);
    if (now !== record) granted = now ? grantedTo(now) : new Set();
    record = now;
    return record !== undefined && isUsable(record, Date.now()) && granted.has(permission);
  };
};

const reset = (): { json: string } => ({ json: eventJson({ event: "reset" }) });

type Reading = { feed: Feed; may: May; signal: AbortSignal };

/** The events after this number, as they come. Throws the reason of `signal`. */
const follow = async function* (after: number, { feed: { ring }, may, signal }: Reading): AsyncGenerator<ServerEvent> {
  for (let number = after + 1; ; ) {
    const event = ring.at(number);
    if (event === "gone") {
      number = ring.last() + 1;
      yield { id: ring.idOf(number - 1), ...reset() };
    } else if (event) {
      if (may(event.permission)) yield { id: ring.idOf(number), json: event.json };
      number += 1;
    } else {
      await ring.after(number - 1, signal);
    }
  }
};

/** The events of a reader that does not go on where it was, but after this number. */
const begin = async function* (
  from: number,
  { lastEventId, initial }: Asked,
  reading: Reading,
  deps: CurrentDeps,
): AsyncGenerator<ServerEvent> {
  const { ring, project } = reading.feed;
  // Without an id where all is told anew: who breaks off before the end of it begins again.
  if (lastEventId !== undefined) yield { ...(!initial && { id: ring.idOf(from) }), ...reset() };
  if (initial) {
    for await (const json of currentEvents(project, deps, reading.signal)) if (reading.may(poolsRead)) yield { json };
    yield { id: ring.idOf(from), json: eventJson({ event: "synced" }) };
  }
  yield* follow(from, reading);
};

/**
 * The events of a project for this key. Where it begins is settled when this resolves, and nothing is missed from then
 * on. Throws `unavailable`.
 */
export const streamEvents = async (
  asked: Asked,
  { project, principal }: { project: Project; principal: Principal },
  deps: Deps,
  signal: AbortSignal,
): Promise<AsyncIterable<ServerEvent>> => {
  const { feed, leave } = await deps.events.join(project, signal);
  const left = new AbortController();
  const reading = { feed, may: rightsOf(principal, deps), signal: AbortSignal.any([signal, left.signal]) };
  const { ring } = feed;
  const seen = asked.lastEventId === undefined ? undefined : ring.find(asked.lastEventId);
  // Before anything is read: what changes meanwhile comes after it.
  const events = seen === undefined ? begin(ring.last(), asked, reading, deps) : follow(seen, reading);
  // A reader that is ended leaves at once, also while it waits for an event.
  const end = async (): Promise<IteratorResult<ServerEvent>> => {
    leave();
    left.abort();
    return events.return(undefined);
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => events.next(), return: end }) };
};
