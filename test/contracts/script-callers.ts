/** What calls the Lua scripts, by the names that the examples of scripts/ give the methods. */
import { basename } from "node:path";
import { createEndedLeases } from "../../src/core/leases/ended-leases.ts";
import { createLeaseStore } from "../../src/core/leases/lease-store.ts";
import { createLeavingMarks } from "../../src/core/leases/leaving-marks.ts";
import { createNamesComplete, createNamesInUse } from "../../src/core/leases/names-in-use.ts";
import { createRepairStore } from "../../src/core/leases/repair-store.ts";
import { createSessionNames } from "../../src/core/reservations/session-names.ts";
import { createSessionRoom } from "../../src/core/reservations/session-room.ts";
import { createRecordingStore } from "../../src/features/recordings/recording-store.ts";
import { createTelemetryStore } from "../../src/features/telemetry/telemetry-store.ts";
import { createItemEvents } from "../../src/features/vaults/items/item-events.ts";
import { createFlowStore } from "../../src/features/vaults/own-logins/flow-store.ts";
import { createAuditLineStore } from "../../src/platform/audit/audit-line-store.ts";
import { createCollectClaims } from "../../src/platform/redis/collect-claims.ts";
import type { RedisConnection } from "../../src/platform/redis/connection.ts";
import { createIdempotentAnswers } from "../../src/platform/redis/idempotent-answers.ts";
import { createLocks } from "../../src/platform/redis/locks.ts";
import { asText, at, type Moment } from "./redis-state.ts";
import { scriptNames, scriptOf } from "./script-examples.ts";

type Method = (...args: never[]) => unknown;

const storesOn = (redis: RedisConnection): Record<string, Record<string, unknown>> => {
  const namesComplete = createNamesComplete(redis);
  return {
    leases: createLeaseStore(redis),
    repairs: createRepairStore(redis),
    namesInUse: { ask: createNamesInUse(redis) },
    namesComplete: {
      check: async (project: string) => (await namesComplete.check(project)).isComplete,
      async confirm(project: string) {
        const check = await namesComplete.check(project);
        if (!check.isComplete) await check.confirm();
      },
    },
    leavingMarks: createLeavingMarks(redis),
    endedLeases: createEndedLeases(redis),
    names: createSessionNames(redis, { isAlive: async () => false }),
    room: createSessionRoom(redis, "system"),
    claims: createCollectClaims(redis, "replica-1", "telemetry"),
    answers: createIdempotentAnswers(redis),
    auditLines: createAuditLineStore(redis, "system"),
    itemEvents: {
      ...createItemEvents(redis),
      read: (item: string) => createItemEvents(redis).read(item, { limit: 10, waitMs: 0 }, AbortSignal.timeout(10_000)),
    },
    logins: createFlowStore(redis, "system"),
    locks: { hold: (what: string[]) => createLocks(redis).hold(what, async () => "done") },
    replays: createRecordingStore(redis),
    telemetry: createTelemetryStore(redis),
  };
};

/** Calls the method over this connection. */
const callMethod = async (redis: RedisConnection, [name, ...args]: [string, ...unknown[]]): Promise<unknown> => {
  const [store = "", method = ""] = name.split(".");
  const found = storesOn(redis)[store]?.[method];
  if (typeof found !== "function") throw new Error(`script-callers.ts has no ${name}`);
  return (found as Method)(...(args as never[]));
};

/** The keys and arguments of one call of a script. */
type Evaluated = { keys: string[]; argv: (string | number)[] };

/** What a script answers: objects are JSON there. */
const answerOf = (answer: unknown, now: Moment): unknown => {
  const text = (part: unknown): unknown =>
    typeof part === "object" && !Array.isArray(part) && part ? asText(part) : part;
  const said = at(answer, now);
  return Array.isArray(said) ? said.map(text) : text(said);
};

type Replayed = {
  script: string;
  call: [string, ...unknown[]];
  answer?: unknown;
  others?: Record<string, unknown> | undefined;
};

/**
 * Makes the call of an example over a connection that answers as recorded. Also for a method that makes something of a
 * refusal.
 */
export const replayed = async (
  { script, call, answer, others = {} }: Replayed,
  now: Moment,
  onCall?: (calls: Evaluated[]) => void,
): Promise<{ calls: Evaluated[]; result: unknown }> => {
  const { sha } = scriptOf(script);
  const bySha = new Map(scriptNames.map((name) => [scriptOf(name).sha, others[basename(name)]]));
  const calls: Evaluated[] = [];
  const commands = Object.fromEntries(Object.entries(others).map(([name, said]) => [name, async () => said]));
  const evalsha = async (asked: string, count: number, ...rest: (string | number)[]): Promise<unknown> => {
    if (asked !== sha) return bySha.get(asked);
    calls.push({ keys: rest.slice(0, count).map(String), argv: rest.slice(count) });
    onCall?.(calls);
    return answerOf(answer, now);
  };
  const result = await callMethod({ ...commands, evalsha } as unknown as RedisConnection, at(call, now) as [string]);
  return { calls, result: JSON.parse(JSON.stringify(result ?? null)) as unknown };
};

/** The call that the method makes first, whatever comes of it. */
export const firstCall = (example: Replayed, now: Moment): Promise<{ calls: Evaluated[] }> =>
  new Promise((resolve, reject) => {
    replayed(example, now, (calls) => resolve({ calls })).catch(reject);
  });
