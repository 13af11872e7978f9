import { setTimeout as sleep } from "node:timers/promises";
import { grantedTo, isUsable, type StoredApiKey } from "../../core/api-keys/api-key-secret.ts";
import type { ApiKeys, Principal } from "../../core/api-keys/api-keys.ts";
import type { ServerEvent } from "../../core/http/route.ts";
import type { ProjectPermission } from "../../core/model/permission.ts";
import type { Project } from "../../core/projects/projects.ts";
import { awaitWith } from "../../platform/base/retry.ts";
import { eventJson } from "./event.ts";
import { type Feed, poolsRead } from "./feed.ts";
import type { EventFeeds } from "./feeds.ts";
import type { Snapshot } from "./snapshot.ts";

/** Where a reader begins. `initial`: it gets all that there is first, unless it goes on where it was. */
type Asked = { lastEventId: string | undefined; initial: boolean };

type Deps = { apiKeys: ApiKeys; events: EventFeeds };

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

/** Most characters that are sent at once; a longer event goes alone. */
const atOnce = 65_536;

/** These events, as few sendings. */
const inParts = function* (events: Iterable<ServerEvent & { json: string }>): Generator<ServerEvent[]> {
  let part: ServerEvent[] = [];
  let length = 0;
  for (const event of events) {
    if (part.length > 0 && length + event.json.length > atOnce) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(event);
    length += event.json.length;
  }
  if (part.length > 0) yield part;
};

/** A reader is told at most so often, ms: what comes in between is sent together. */
const gatherMs = 50;

/** The events after this number, as they come. Throws the reason of `signal`. */
const follow = async function* (
  after: number,
  { feed: { ring }, may, signal }: Reading,
): AsyncGenerator<readonly ServerEvent[]> {
  let number = after + 1;
  const here = function* (): Generator<ServerEvent & { json: string }> {
    for (; ; number += 1) {
      const event = ring.at(number);
      if (event === undefined) return;
      if (event !== "gone") {
        if (may(event.permission)) yield { id: ring.idOf(number), json: event.json };
        continue;
      }
      number = ring.last();
      yield { id: ring.idOf(number), ...reset() };
    }
  };
  for (;;) {
    yield* inParts(here());
    await sleep(gatherMs, undefined, { signal });
    await ring.after(number - 1, signal);
  }
};

/** All that there is, and what comes after it. */
const followFromAll = async function* (
  { from, read }: Snapshot,
  reading: Reading,
): AsyncGenerator<readonly ServerEvent[]> {
  const { feed, may, signal } = reading;
  for await (const batch of read(signal)) if (may(poolsRead)) yield* inParts(batch.map((json) => ({ json })));
  yield [{ id: feed.ring.idOf(from), json: eventJson({ event: "synced" }) }];
  yield* follow(from, reading);
};

/** The events of a reader; where it begins is settled when this resolves. */
const begin = async (
  { lastEventId, initial }: Asked,
  reading: Reading,
): Promise<AsyncGenerator<readonly ServerEvent[]>> => {
  const { ring, snapshot } = reading.feed;
  const seen = lastEventId === undefined ? undefined : ring.find(lastEventId);
  if (seen !== undefined) return follow(seen, reading);
  const all = initial ? await awaitWith(snapshot(), reading.signal) : undefined;
  const from = all?.from ?? ring.last();
  return (async function* () {
    // Without an id where all is told anew: who breaks off before the end of it begins again.
    if (lastEventId !== undefined) yield [{ ...(!all && { id: ring.idOf(from) }), ...reset() }];
    yield* all ? followFromAll(all, reading) : follow(from, reading);
  })();
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
): Promise<AsyncIterable<readonly ServerEvent[]>> => {
  const { feed, leave } = await deps.events.join(project, signal);
  const left = new AbortController();
  const reading = { feed, may: rightsOf(principal, deps), signal: AbortSignal.any([signal, left.signal]) };
  const events = await begin(asked, reading);
  // A reader that is ended leaves at once, also while it waits for an event.
  const end = async (): Promise<IteratorResult<readonly ServerEvent[]>> => {
    leave();
    left.abort();
    return events.return(undefined);
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => events.next(), return: end }) };
};
