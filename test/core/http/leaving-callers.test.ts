/**
 * Callers of a session's pages, streams and recordings who hang up while what they ask for is looked up: no place of
 * theirs is left.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { signLiveViewToken, signRecordingToken } from "../../../src/core/protocol/session-token.ts";
import type { StoredRecording } from "../../../src/features/recordings/recording-store.ts";
import { eventually } from "../../support/eventually.ts";
import { type HeldSession, holdSession } from "../../support/held-session.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases({ BROWSERPOOL_PROJECT_OPEN_REQUESTS: "1" });
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** Makes a look wait. `asked` resolves when it begins; `goOn` lets it end. */
const held = () => {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    asked: asked.promise,
    goOn: goOn.resolve,
    async wait() {
      asked.resolve();
      await goOn.promise;
    },
  };
};
type Hold = ReturnType<typeof held>;

const holdSessions = ({ wait }: Hold): void => {
  const { store } = api.services;
  api.services.store = {
    ...store,
    async lease(...which) {
      await wait();
      return store.lease(...which);
    },
  };
  onTestFinished(() => {
    api.services.store = store;
  });
};
const holdRecordings = ({ wait }: Hold, record: StoredRecording): void => {
  const { recordings } = api.services;
  const records = {
    ...recordings.records,
    async get() {
      await wait();
      return record;
    },
  };
  api.services.recordings = { ...recordings, records };
  onTestFinished(() => {
    api.services.recordings = recordings;
  });
};

type Asked = HeldSession & { hold: Hold };
const times = { startedMs: 0, goesMs: Date.now() + 60_000, mostBytes: 1000 };
const paths: Record<string, (asked: Asked) => string> = {
  "a live view's page"({ session, poolUid, hold }) {
    holdSessions(hold);
    const claims = { sessionId: session, poolUid, readOnly: true };
    return `live?jwt=${signLiveViewToken(api.services.signingKey, claims)}`;
  },
  "a telemetry stream"({ jwt, hold }) {
    holdSessions(hold);
    return `telemetry/stream?jwt=${jwt}`;
  },
  "a recording"({ session, poolUid, hold }) {
    const id = newId();
    holdRecordings(hold, { id, session, poolUid, projectId: api.defaultProject, ...times });
    return `replays/${id}?jwt=${signRecordingToken(api.services.signingKey, { sessionId: session, poolUid, recordingId: id })}`;
  },
};

/** How many of these places there are. */
const countOf = (take: () => () => void): number => {
  const leave: (() => void)[] = [];
  try {
    while (leave.length < 200) leave.push(take());
  } catch {
    // That was all.
  }
  for (const each of leave) each();
  return leave.length;
};

// LIMIT-13, STREAM-6
test.each(Object.entries(paths))("nothing is left of a caller of %s who has hung up", async (_what, pathOf) => {
  const { callerLimits, signingKey } = api.services;
  const project = api.defaultProject;
  const hold = held();
  const session = await holdSession({ parts: api.parts, signingKey }, { project });
  const keyId = `session/${session.session}`;
  const places = () => [
    countOf(() => callerLimits.enter("project", project)),
    countOf(() => callerLimits.enterStream({ keyId, projectId: project })),
  ];
  const before = places();
  const { hostname, port, host } = new URL(api.url);
  const caller = connect(Number(port), hostname).on("error", () => undefined);
  await once(caller, "connect");
  caller.write(`GET /gateway/${session.session}/${pathOf({ ...session, hold })} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  try {
    await hold.asked;
    caller.destroy();
    // What it has sent comes before what comes after it.
    for (let round = 0; round < 2; round += 1) await (await fetch(`${api.url}/livez`)).text();
  } finally {
    hold.goOn();
  }
  await (await fetch(`${api.url}/livez`)).text();
  await eventually("all places are free", () => places().join() === before.join(), 10_000);
  expect(before).toEqual([1, 50]);
});
