import { describe, expect, test } from "vitest";
import { parseRedisUrl } from "./redis-url.ts";

describe("a URL of Redis", () => {
  test("names one server, with what is left out by default", () => {
    expect(parseRedisUrl("redis://localhost")).toEqual({
      kind: "single",
      isTls: false,
      nodes: [{ host: "localhost", port: 6379 }],
      login: {},
      db: 0,
    });
    expect(parseRedisUrl("rediss://me:p%40ss%2Fword@[::1]:6380/3")).toMatchObject({
      isTls: true,
      nodes: [{ host: "::1", port: 6380 }],
      login: { username: "me", password: "p@ss/word" },
      db: 3,
    });
    expect(parseRedisUrl("redis://:secret@h:1/").login).toEqual({ password: "secret" });
  });

  test("names the Sentinels of a master, which may have a login of their own", () => {
    const url = "rediss-sentinel://:secret@a:1,b/2?master=mymaster&sentinel_user=s&sentinel_password=t%26";
    expect(parseRedisUrl(url)).toEqual({
      kind: "sentinel",
      isTls: true,
      nodes: [
        { host: "a", port: 1 },
        { host: "b", port: 26379 },
      ],
      login: { password: "secret" },
      db: 2,
      master: { name: "mymaster", sentinelLogin: { username: "s", password: "t&" } },
    });
  });

  test("names nodes of a cluster", () => {
    expect(parseRedisUrl("redis-cluster://me:secret@a:7000, b:7001,c")).toMatchObject({
      kind: "cluster",
      nodes: [
        { host: "a", port: 7000 },
        { host: "b", port: 7001 },
        { host: "c", port: 6379 },
      ],
    });
  });

  test.each([
    ["", "malformed or of an unknown scheme"],
    ["localhost:6379", "malformed or of an unknown scheme"],
    ["http://:hunter2@h", "malformed or of an unknown scheme"],
    ["constructor://:hunter2@h", "malformed or of an unknown scheme"],
    ["redis://", "a host or port is malformed"],
    ["redis://:hunter2@h:99999", "a host or port is malformed"],
    ["redis://:hunter2@h:0", "a host or port is malformed"],
    ["redis://:hunter2@a,b", "more than one host"],
    ["redis://:hunter2@h/x", "not the number of a database"],
    ["redis://:hunter2%@h", "a % that encodes no character"],
    ["redis://hunter2@h", "a user and no password"],
    ["redis://:hunter2@h/0?tls=1", "a query parameter is not known"],
    ["redis://:hunter@2@h", "malformed or of an unknown scheme"],
    ["redis-cluster://:hunter2@h/1", "a cluster has no database but 0"],
    ["redis-sentinel://:hunter2@h/0", "the name of the master is missing"],
  ])("that is wrong (%s) is refused with the variable's name and the form, and never repeated", (url, problem) => {
    expect(() => parseRedisUrl(url)).toThrow(/^REDIS_URL: .*; expected redis/);
    expect(() => parseRedisUrl(url)).toThrow(problem);
    expect(() => parseRedisUrl(url)).not.toThrow(/hunter/);
  });
});
