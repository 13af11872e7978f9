/**
 * What an example says of Redis: written before a call, read and compared after it. Times are relative to Redis' clock:
 * `{ms}` is now, `{ms-5000}` five seconds ago, `{us}` now in microseconds, `{hour}` the hour since 1970; `{run}` is the
 * run id of the server.
 */
import type { Redis } from "ioredis";
import { eventually } from "../support/eventually.ts";
import type { Stored } from "./script-examples.ts";

/** One moment of a Redis server. */
export type Moment = { ms: number; run: string };

const unitsMs: Record<string, number> = { us: 1 / 1000, ms: 1, hour: 3_600_000 };

const time = /\{(us|ms|hour)([+-]\d+)?\}|\{(run|uuid)\}/g;

const anUuid = "00000000-0000-4000-8000-000000000000";

/** Now, by Redis. */
export const momentOf = async (redis: Redis): Promise<Moment> => {
  const [seconds, us] = await redis.time();
  const run = /run_id:(\w+)/.exec(await redis.info("server"))?.[1] ?? "";
  return { ms: Number(seconds) * 1000 + Math.floor(Number(us) / 1000), run };
};

const inPlaceOf = ({ ms, run }: Moment, [, unit, offset, name]: (string | undefined)[]): string => {
  if (name !== undefined) return name === "run" ? run : anUuid;
  return String(Math.floor(ms / (unitsMs[unit ?? ""] ?? 1)) + Number(offset ?? 0));
};

/** A text of an example at this moment. A whole placeholder becomes a number. */
const textAt = (text: string, now: Moment): string | number => {
  const filled = text.replaceAll(time, (...match) => inPlaceOf(now, match));
  return filled !== text && /^\{(us|ms|hour)([+-]\d+)?\}$/.test(text) ? Number(filled) : filled;
};

/** A value of an example at this moment. */
export const at = (value: unknown, now: Moment): unknown => {
  if (typeof value === "string") return textAt(value, now);
  if (Array.isArray(value)) return value.map((item) => at(item, now));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [String(at(key, now)), at(inner, now)]));
};

/** As Redis and its scripts have a value: an object is JSON. */
export const asText = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);

/** The inverse of `asText` for objects; a text that is none stays. */
export const readText = (text: unknown): unknown => {
  if (typeof text !== "string" || !text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Writes a state into an empty Redis. */
export const writeState = async (redis: Redis, state: Record<string, Stored>, now: Moment): Promise<void> => {
  const here = at(state, now) as Record<string, Stored>;
  for (const [key, { hash, zset, stream, text, expires }] of Object.entries(here)) {
    for (const [field, value] of Object.entries(hash ?? {})) await redis.hset(key, field, asText(value));
    for (const [member, score] of zset ?? []) await redis.zadd(key, String(score), member);
    for (const [id, fields] of stream ?? []) await redis.call("XADD", key, id, ...fields.map(asText));
    if (text !== undefined) await redis.set(key, asText(text));
    if (expires !== undefined) await redis.expire(key, expires);
  }
};

const pairs = (flat: string[]): [string, string][] =>
  flat.flatMap((item, index) => (index % 2 === 0 ? [[item, flat[index + 1] ?? ""]] : []));

/** Members with their scores, flat in every version of the protocol. */
const scoresOf = async (redis: Redis, key: string): Promise<string[]> =>
  ((await redis.call("ZRANGE", key, 0, -1, "WITHSCORES")) as unknown[]).flat().map(String);

const readKey = async (redis: Redis, key: string): Promise<Stored> => {
  switch (await redis.type(key)) {
    case "hash":
      return { hash: Object.fromEntries(Object.entries(await redis.hgetall(key)).map(([f, v]) => [f, readText(v)])) };
    case "zset":
      return { zset: pairs(await scoresOf(redis, key)).map(([member, score]) => [member, Number(score)]) };
    case "stream":
      return { stream: (await redis.xrange(key, "-", "+")).map(([id, fields]) => [id, fields.map(readText)]) };
    default:
      return { text: readText(await redis.get(key)) };
  }
};

/** All that is in Redis. */
export const readState = async (redis: Redis): Promise<Record<string, Stored>> => {
  const state: Record<string, Stored> = {};
  for (const key of (await redis.keys("*")).sort()) {
    const seconds = await redis.ttl(key);
    state[key] = { ...(await readKey(redis, key)), ...(seconds >= 0 && { expires: seconds }) };
  }
  return state;
};

/** JSON in texts is compared as what it says: scripts write fields in any order. */
export const readDeep = (value: unknown): unknown => {
  const read = readText(value);
  if (Array.isArray(read)) return read.map(readDeep);
  if (read === null || typeof read !== "object") return read;
  return Object.fromEntries(Object.entries(read).map(([key, inner]) => [key, readDeep(inner)]));
};

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Takes texts and numbers that are what this one says at a moment between the two. */
const between = (text: string, from: Moment, to: Moment) => {
  const units: [unit: string, offset: number][] = [];
  let pattern = "";
  let read = 0;
  for (const match of text.matchAll(time)) {
    const [found, unit, offset, name] = match;
    pattern += escaped(text.slice(read, match.index));
    read = match.index + found.length;
    if (name !== undefined) pattern += name === "run" ? from.run : "[0-9a-f-]{36}";
    else {
      pattern += "(\\d+)";
      units.push([unit ?? "", Number(offset ?? 0)]);
    }
  }
  const whole = new RegExp(`^${pattern}${escaped(text.slice(read))}$`, "s");
  const isNow = (number: string, [unit, offset]: [string, number]): boolean => {
    const msOf = (Number(number) - offset) * (unitsMs[unit] ?? 1);
    // The hour of that moment began before it.
    return msOf > from.ms - (unitsMs[unit] ?? 1) - 1 && msOf <= to.ms + 1;
  };
  return {
    $$typeof: Symbol.for("jest.asymmetricMatcher"),
    asymmetricMatch(real: unknown): boolean {
      const [, ...numbers] = whole.exec(String(real)) ?? [undefined, undefined];
      return numbers.length === units.length && units.every((unit, index) => isNow(String(numbers[index]), unit));
    },
    toString: () => text,
    toAsymmetricMatcher: () => text,
  };
};

/**
 * What a real value is compared with, by `toEqual`, when the call was made between these moments. `expires` is compared
 * apart.
 */
export const expectedBetween = (value: unknown, from: Moment, to: Moment): unknown => {
  if (typeof value === "string") return value.replaceAll(time, "") === value ? value : between(value, from, to);
  if (Array.isArray(value)) return value.map((item) => expectedBetween(item, from, to));
  if (value === null || typeof value !== "object") return value;
  // The keys of hashes may be times, too.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [String(at(key, to)), expectedBetween(inner, from, to)]),
  );
};

/** What is published while a call is made. */
export type Hearing = {
  during<T>(channels: string[], work: () => Promise<T>): Promise<{ made: T; told: [string, unknown][] }>;
};

/** The message of `bp:sessions` is the lease after some words. */
const readMessage = (message: string): unknown => {
  const [, words, lease] = /^(\S+ \S+ \S+) (\{.*)$/s.exec(message) ?? [];
  return words === undefined ? readText(message) : [words, readText(lease)];
};

/** Of channels of pools, which are shard channels, of `bp:pools` and `bp:sessions`. `admin`: makes a connection. */
export const listenOn = async (admin: () => Redis): Promise<Hearing> => {
  const [shards, plain, publisher] = [admin(), admin(), admin()];
  const heard: Record<"shards" | "plain", [string, unknown][]> = { shards: [], plain: [] };
  shards.on("smessage", (channel, message) => heard.shards.push([channel, readText(message)]));
  plain.on("message", (channel, message) => heard.plain.push([channel, readMessage(message)]));
  await plain.subscribe("bp:pools", "bp:sessions");
  const last = "all was told";
  const ends = (list: [string, unknown][]): number => list.filter(([, message]) => message === last).length;
  return {
    async during(channels, work) {
      for (const channel of channels) await shards.ssubscribe(channel);
      heard.shards = [];
      heard.plain = [];
      const made = await work();
      for (const channel of channels) await publisher.spublish(channel, last);
      await publisher.publish("bp:pools", last);
      await eventually(last, () => ends(heard.shards) === channels.length && ends(heard.plain) === 1);
      for (const channel of channels) await shards.sunsubscribe(channel);
      return { made, told: [...heard.shards, ...heard.plain].filter(([, message]) => message !== last) };
    },
  };
};
