import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { ServiceDeps } from "../../cmd/service-deps.ts";
import type { LeaseRecord, SessionRequest } from "../leases/records.ts";
import { listedSessionAnswer, sessionAnswer } from "./session-answer.ts";

const request: SessionRequest = {
  max_session_seconds: 3600,
  timeout_seconds: 60,
  pool: { id: "pool", uid: "uid" },
  project: "project",
};

const leaseOf = (config: string): LeaseRecord => ({
  session: "session",
  browser: "browser",
  pod: "pod",
  address: "127.0.0.1:1",
  config,
  epoch: 1,
  seq: 1,
  created_at: 0,
  ticket: "1",
  channel: "",
  request: JSON.stringify(request),
});

/** A store in which each configuration has a policy of 256 KiB, the largest of an on-demand browser. */
const setUp = () => {
  const asked: string[] = [];
  const text = JSON.stringify({ headless: true, chrome_policy: { HomepageLocation: "x".repeat(256 * 1024) } });
  const store = {
    config: async (_: string, hash: string) => {
      asked.push(hash);
      return text;
    },
  };
  const deps = {
    store,
    pools: { list: () => [] },
    sessionProfile: async () => ({}),
    signingKey: generateKeyPairSync("ed25519").privateKey,
  } as unknown as ServiceDeps;
  return {
    asked,
    answer: (config: string) => sessionAnswer(leaseOf(config), "http://localhost", deps),
    listed: (config: string) => listedSessionAnswer(leaseOf(config), "http://localhost", deps),
  };
};

// LIMIT-34
test("a list leaves out a large policy", async () => {
  const { answer, listed } = setUp();
  expect([(await answer("a")).chrome_policy, (await listed("a")).chrome_policy]).toEqual([
    expect.objectContaining({ HomepageLocation: expect.anything() }),
    undefined,
  ]);
});

test("a configuration is read once, and again when 32 MB of others were read since it was asked for last", async () => {
  const { asked, answer } = setUp();
  expect((await answer("first")).headless).toBe(true);
  await answer("second");
  await answer("first");
  expect(asked).toEqual(["first", "second"]);
  for (let index = 0; index < 126; index++) await answer(`other ${index}`);
  await answer("first");
  expect(asked.filter((hash) => hash === "first")).toHaveLength(1);
  await answer("second");
  expect(asked.filter((hash) => hash === "second")).toHaveLength(2);
});
