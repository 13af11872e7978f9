/**
 * What callers may use of one replica of the API: requests a second, open requests, waiting acquires, CDP connections,
 * failed attempts. Each API key and each project has counters of its own, so who reaches a bound hurts no other. They
 * are in this process' memory: an acquire takes a millisecond, and asking Redis before it would add a fifth to that
 * (ADR 0025). So the bounds hold for each replica.
 *
 * The counters are bounded too. A count exists while it is above 0. Buckets are dropped when they were not used for
 * long: a bucket that is made anew is full, as one is after a second or a minute without requests.
 */
import { LRUCache } from "lru-cache";
import { AppError } from "../../platform/base/errors.ts";
import { type Bucket, type BucketRate, takeToken } from "../../platform/rules/token-bucket.ts";
import type { CallerBound, CallerBounds } from "../config/config.ts";
import type { ApiMetrics, LimitName } from "../metrics/api-metrics.ts";

/** Whose requests are counted together. */
type CallerKind = keyof CallerBound;

/** Who asks. `projectId`: undefined for requests to the organization. */
type Caller = { keyId: string; projectId: string | undefined };

/** Ends a count. A second call does nothing. */
type Leave = () => void;

export type CallerLimits = {
  /** Counts a request of this key or project, from now until `Leave`. Throws `rate_limited`. */
  enter(kind: CallerKind, id: string): Leave;
  /** Counts a caller that may have to wait for a browser; undefined when its key or project has no place left. */
  enterQueue(caller: Caller): Leave | undefined;
  /** Counts a CDP connection of the project. Throws `rate_limited`. */
  connect(projectId: string): Leave;
  /** Counts an upload, which takes room on this replica's disk. Throws `rate_limited`. */
  enterUpload(caller: Caller): Leave;
  /** Counts a failed attempt of an address. Returns the error for an attempt too many, else undefined. */
  failed(address: string): AppError | undefined;
  /** Counts an answer that goes on (HTTP events). Throws `rate_limited`. */
  enterStream(caller: Caller): Leave;
  /**
   * Counts the bytes of an answer while its caller takes it. With `mayRefuse` it throws `rate_limited`; without it,
   * what was done would be told of nowhere, so it counts in any case.
   */
  enterAnswer(caller: Caller, bytes: number, mayRefuse: boolean): Leave;
  /**
   * Counts a look at the API server for a name of the project that nobody may have. False: it has had its share of
   * them.
   */
  mayLookFor(projectId: string): boolean;
  /** Counts the use of a login's ticket by its digest. Throws `rate_limited`. */
  countTicket(digest: string): void;
  /** The error for a bound that was found elsewhere, which it counts for the metrics. */
  refusal(limit: LimitName, message: string, retryAfterSeconds: number): AppError;
};

/** A burst may have the requests of this time, s. */
const burstSeconds = 2;

/** Requests in a minute with one ticket of a hosted login: a person needs a few. */
const ticketUsesPerMinute = 30;

/** Looks at the API server for unknown names, of one project. Who waits for an object of its own needs a few. */
const looksPerSecond = 20;

/**
 * Uploads at once in one replica. Each takes at most a minute and 51 MiB of the disk, for which the chart has room. A
 * project leaves one place to the others.
 */
const mostUploads = { key: 2, project: 3, replica: 4 };

/**
 * Streams at once in one replica. Each takes two sockets, and up to 4 MB of the kernel's buffers while its reader takes
 * nothing.
 */
const mostStreams = { key: 50, project: 100, replica: 500 };

/**
 * Bytes of answers that are on their way to their callers, in one replica. An answer has 6 MB at most. It fits into the
 * memory of the chart, and a key that reads nothing leaves room for others.
 */
const mostAnswerBytes = { key: 32 * 2 ** 20, project: 64 * 2 ** 20, replica: 128 * 2 ** 20 };

/** Time after which a caller at a count's bound may try again, s: how long requests are open can't be known. */
const countRetrySeconds = 1;

/** Most buckets of each sort. A caller whose bucket is dropped gets a full one: one burst more. */
const maxBuckets = 20_000;

const texts: Record<CallerKind, string> = { key: "this API key", project: "this project" };

const createBuckets = (rate: BucketRate, nowMs: () => number): ((id: string) => number) => {
  const buckets = new LRUCache<string, Bucket>({ max: maxBuckets });
  return (id) => {
    const { bucket, waitMs } = takeToken(buckets.get(id), rate, nowMs());
    buckets.set(id, bucket);
    return waitMs;
  };
};

const createCounts = (most: number): ((id: string) => Leave | undefined) => {
  const counts = new Map<string, number>();
  return (id) => {
    const count = counts.get(id) ?? 0;
    if (count >= most) return undefined;
    counts.set(id, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (counts.get(id) ?? 1) - 1;
      if (left > 0) counts.set(id, left);
      else counts.delete(id);
    };
  };
};

/** Counts amounts; undefined for an amount that does not fit, unless it must. */
const createAmounts = (most: number): ((id: string, amount: number, must: boolean) => Leave | undefined) => {
  const amounts = new Map<string, number>();
  return (id, amount, must) => {
    const before = amounts.get(id) ?? 0;
    if (!must && before > 0 && before + amount > most) return undefined;
    amounts.set(id, before + amount);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (amounts.get(id) ?? 0) - amount;
      if (left > 0) amounts.set(id, left);
      else amounts.delete(id);
    };
  };
};

type Shares = { key: number; project: number; replica: number };

/** What takes room of the whole replica. By default it is one thing. `must`: it counts above a bound, too. */
type Room = { amount?: number; must?: boolean };

/**
 * Counts what takes room of the whole replica: of its key, of its project, and all together. `tooMany`: the error at a
 * bound.
 */
const createShares = (
  most: Shares,
  tooMany: (who: string, most: number) => AppError,
): ((caller: Caller, room?: Room) => Leave) => {
  const counts = {
    key: createAmounts(most.key),
    project: createAmounts(most.project),
    replica: createAmounts(most.replica),
  };
  return ({ keyId, projectId = "" }, { amount = 1, must = false } = {}) => {
    const left: Leave[] = [];
    const leave = (): void => {
      for (const each of left) each();
    };
    const entering = [
      { text: texts.key, most: most.key, entered: counts.key(keyId, amount, must) },
      { text: texts.project, most: most.project, entered: counts.project(projectId, amount, must) },
      { text: "this replica", most: most.replica, entered: counts.replica("", amount, must) },
    ];
    for (const { entered } of entering) if (entered) left.push(entered);
    const full = entering.find(({ entered }) => !entered);
    if (!full) return leave;
    leave();
    throw tooMany(full.text, full.most);
  };
};

const perKind = <T>(bound: CallerBound, make: (most: number) => T): Record<CallerKind, T> => ({
  key: make(bound.key),
  project: make(bound.project),
});

/** `nowMs`: of a clock that is never set. */
export const createCallerLimits = (
  bounds: CallerBounds,
  { limited }: Pick<ApiMetrics, "limited">,
  nowMs: () => number = () => performance.now(),
): CallerLimits => {
  const rates = perKind(bounds.requestsPerSecond, (perSecond) =>
    createBuckets({ perSecond, burst: perSecond * burstSeconds }, nowMs),
  );
  const open = perKind(bounds.openRequests, createCounts);
  const waiting = perKind(bounds.waitingAcquires, createCounts);
  const connections = createCounts(bounds.connections);
  const { failedAttemptsPerMinute } = bounds;
  const failures = createBuckets({ perSecond: failedAttemptsPerMinute / 60, burst: failedAttemptsPerMinute }, nowMs);
  const tickets = createBuckets({ perSecond: ticketUsesPerMinute / 60, burst: ticketUsesPerMinute }, nowMs);

  const looks = createBuckets({ perSecond: looksPerSecond, burst: looksPerSecond }, nowMs);

  const refusal: CallerLimits["refusal"] = (limit, message, retryAfterSeconds) => {
    limited.inc({ limit });
    return new AppError("rate_limited", message, { retryAfterSeconds });
  };
  const answers = createShares(mostAnswerBytes, (who, most) =>
    refusal(
      "answer_bytes",
      `${who} has answers of ${most} bytes under way here; read them, or ask for smaller pages`,
      countRetrySeconds,
    ),
  );
  return {
    refusal,
    enter(kind, id) {
      const waitMs = rates[kind](id);
      if (waitMs > 0) {
        const most = bounds.requestsPerSecond[kind];
        throw refusal(
          "request_rate",
          `${texts[kind]} may send ${most} requests a second; send them slower`,
          waitMs / 1000,
        );
      }
      const leave = open[kind](id);
      if (leave) return leave;
      const most = bounds.openRequests[kind];
      throw refusal(
        "open_requests",
        `${texts[kind]} has ${most} open requests; wait for their answers`,
        countRetrySeconds,
      );
    },
    enterQueue({ keyId, projectId }) {
      const ofKey = waiting.key(keyId);
      if (!ofKey || projectId === undefined) return ofKey;
      const ofProject = waiting.project(projectId);
      if (!ofProject) return void ofKey();
      return () => {
        ofKey();
        ofProject();
      };
    },
    connect(projectId) {
      const leave = connections(projectId);
      if (leave) return leave;
      const message = `this project has ${bounds.connections} open CDP connections here; close some`;
      throw refusal("connections", message, countRetrySeconds);
    },
    enterUpload: createShares(mostUploads, (who, most) =>
      refusal("uploads", `${who} has ${most} uploads under way here; wait for one to end`, countRetrySeconds),
    ),
    enterStream: createShares(mostStreams, (who, most) =>
      refusal("streams", `${who} has ${most} open streams here; close some`, countRetrySeconds),
    ),
    failed(address) {
      const waitMs = failures(address);
      if (waitMs === 0) return undefined;
      return refusal("failed_attempts", "too many attempts failed; check what you send, and wait", waitMs / 1000);
    },
    enterAnswer: (caller, amount, mayRefuse) => answers(caller, { amount, must: !mayRefuse }),
    mayLookFor: (projectId) => looks(projectId) === 0,
    countTicket(digest) {
      const waitMs = tickets(digest);
      if (waitMs > 0) throw refusal("login_ticket", "this login link was used too often; wait", waitMs / 1000);
    },
  };
};
