import { expect, test } from "vitest";
import { faultNames } from "./faults/all-faults.ts";
import { readOptions, usage } from "./options.ts";

test("a run is what its options say", () => {
  const argv = ["--seed", "5", "--histories", "3", "--seconds", "7", "--faults", "redis-kill,api-term"];
  expect(readOptions(argv)).toEqual({
    do: "run",
    seed: 5,
    histories: 3,
    loadMs: 7000,
    faults: ["redis-kill", "api-term"],
    chromium: false,
  });
  expect(readOptions(["--faults", "none"])).toMatchObject({ faults: [], histories: 10 });
});

test("a wrong command line is refused with what is wrong", () => {
  expect(() => readOptions(["--faults", "redis-kil"])).toThrow("there is no fault redis-kil");
  expect(() => readOptions(["--seed", "x"])).toThrow("--seed x");
  expect(() => readOptions(["--fault", "redis-kill"])).toThrow("--fault");
  expect(() => readOptions(["--only", "no-sweep"])).toThrow("give --bugs, too");
});

test("a kind of Redis is asked for, and a fault that it does not have is refused", () => {
  const argv = ["--redis", "cluster", "--faults", "redis-master-kill"];
  expect(readOptions(argv)).toMatchObject({ redis: "cluster", faults: ["redis-master-kill"] });
  expect(() => readOptions(["--faults", "redis-master-kill"])).toThrow("needs --redis sentinel or cluster");
  expect(() => readOptions(["--redis", "cluster", "--faults", "redis-slow"])).toThrow("needs --redis single");
  expect(() => readOptions(["--redis", "valkey"])).toThrow("give single, sentinel, cluster");
});

test("browsers beside the history are asked for, up to a bound", () => {
  expect(readOptions(["--beside", "5000"])).toMatchObject({ beside: 5000 });
  expect(() => readOptions(["--beside", "5001"])).toThrow("--beside 5001");
});

test("the help names every kind of fault", () => {
  for (const name of faultNames) expect(usage).toContain(` ${name}`);
});

test("a second try and a seeded bug are asked for", () => {
  const options = readOptions(["--short", "--second-try-within", "60", "--bug", "no-sweep"]);
  expect(options).toEqual({ do: "short", chromium: false, secondTryWithin: 60, bug: "no-sweep" });
  expect(readOptions(["--short"])).not.toHaveProperty("secondTryWithin");
  expect(() => readOptions(["--second-try-within", "soon"])).toThrow("--second-try-within soon");
});
