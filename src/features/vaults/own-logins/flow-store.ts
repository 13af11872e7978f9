import { randomBytes } from "node:crypto";
import type { RedisConnection } from "../../../platform/redis/connection.ts";
import { loginCheckKey, loginChecksKey, loginFlowKey, loginTimelineKey } from "../../../platform/redis/keys.ts";
import { orUnavailable } from "../../../platform/redis/or-unavailable.ts";
import { loadScript, runScript } from "../../../platform/redis/script.ts";
import { LoginFlow, TimelineEvent, timelineEventOf } from "./flow.ts";

/** What is known of the checks of a connection's login. */
type CheckState = { checkedMs: number | undefined; failures: number };

/** The logins of connections and their timelines, by the connections' uids. Every method throws `unavailable`. */
export type FlowStore = {
  /** The last login of a connection. */
  read(uid: string): Promise<LoginFlow | undefined>;
  readCheck(uid: string): Promise<CheckState>;
  /** Writes a login over the version that was read, 0 for none; undefined when another one was written meanwhile. */
  write(uid: string, before: number, flow: Omit<LoginFlow, "version">): Promise<LoginFlow | undefined>;
  /** `event`: left out when the check came to no result. */
  noteCheck(uid: string, state: { checkedMs: number; failures: number }, event?: TimelineEvent): Promise<void>;
  /** Newest first. */
  timeline(uid: string): Promise<TimelineEvent[]>;
  /** Sets the next check of each of these that has none. */
  plan(checks: { member: string; atMs: number }[]): Promise<void>;
  /** Sets it anew, whatever was set. */
  replan(member: string, atMs: number): Promise<void>;
  forget(member: string): Promise<void>;
  /** Checks whose time has come. */
  due(nowMs: number, most: number): Promise<string[]>;
  /** Whether this process may check a connection for this long; of several one may. */
  claimCheck(uid: string, ms: number): Promise<boolean>;
  endCheck(uid: string): Promise<void>;
};

/** Entries of a timeline that are kept, and for how long without another one, s. */
const keptEvents = 200;
const keptSeconds = 30 * 24 * 60 * 60;

const writeScript = loadScript("write-login-flow", import.meta.url);
const noteScript = loadScript("note-login-check", import.meta.url);

/** An id that rises with time. */
export const newFlowId = (nowMs: number): string =>
  `${nowMs.toString(36).padStart(9, "0")}${randomBytes(8).toString("hex")}`;

const parsed = (text: string | null): LoginFlow | undefined => {
  if (text === null) return undefined;
  // One of another version of the service may have another form.
  return LoginFlow.safeParse(JSON.parse(text)).data;
};

/** `organization`: the namespace of the service. */
export const createFlowStore = (redis: RedisConnection, organization: string): FlowStore => {
  const checks = loginChecksKey(organization);
  return {
    read: async (uid) => parsed(await orUnavailable(redis.hget(loginFlowKey(uid), "flow"))),
    async readCheck(uid) {
      const [checked, failures] = await orUnavailable(redis.hmget(loginFlowKey(uid), "checked_ms", "failures"));
      return { checkedMs: checked ? Number(checked) : undefined, failures: Number(failures ?? 0) };
    },
    async write(uid, before, given) {
      const flow = LoginFlow.parse({ ...given, version: before + 1 });
      const event = timelineEventOf(flow);
      const argv = [
        before,
        flow.version,
        JSON.stringify(flow),
        event.id,
        JSON.stringify(event),
        keptEvents,
        keptSeconds,
      ];
      const keys = [loginFlowKey(uid), loginTimelineKey(uid)];
      return (await orUnavailable(runScript(redis, writeScript, keys, argv))) === 1 ? flow : undefined;
    },
    async noteCheck(uid, { checkedMs, failures }, event) {
      const entry = event ? [event.id, JSON.stringify(TimelineEvent.parse(event))] : ["", ""];
      const keys = [loginFlowKey(uid), loginTimelineKey(uid)];
      await orUnavailable(runScript(redis, noteScript, keys, [checkedMs, failures, ...entry, keptEvents, keptSeconds]));
    },
    async timeline(uid) {
      const all = Object.entries(await orUnavailable(redis.hgetall(loginTimelineKey(uid))));
      return all
        .sort(([a], [b]) => (a < b ? 1 : -1))
        .flatMap(([, text]) => TimelineEvent.safeParse(JSON.parse(text)).data ?? []);
    },
    async plan(planned) {
      if (planned.length === 0) return;
      const flat = planned.flatMap(({ member, atMs }) => [atMs, member]);
      await orUnavailable(redis.call("ZADD", checks, "NX", ...flat) as Promise<unknown>);
    },
    async replan(member, atMs) {
      await orUnavailable(redis.zadd(checks, atMs, member));
    },
    async forget(member) {
      await orUnavailable(redis.zrem(checks, member));
    },
    due: (nowMs, most) => orUnavailable(redis.zrangebyscore(checks, "-inf", nowMs, "LIMIT", 0, most)),
    claimCheck: async (uid, ms) => (await orUnavailable(redis.set(loginCheckKey(uid), "1", "PX", ms, "NX"))) !== null,
    async endCheck(uid) {
      await orUnavailable(redis.del(loginCheckKey(uid)));
    },
  };
};
