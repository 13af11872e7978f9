/**
 * Processes that take all that they can get, beside a browser that goes on. Each agent has a user of its own, and a bomb
 * has an end: were a bound not held, the machine would see some hundred processes and no more.
 */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type ProcessAgent, places, startProcessAgent } from "./process-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

/** Forks until it may not, 300 times at most, and says how often it could. */
const forks = `perl -e 'my $n = 0; for (1 .. 300) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 20; exit } $n++ } print $n'`;

/** Processes of this machine with this in their command line. */
const running = (text: string): number =>
  readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  }).length;

describe.each(places)("in a %s", (place) => {
  let held: ProcessAgent;
  beforeAll(async () => {
    held = await startProcessAgent(agents, place);
  });

  const expectBrowser = async (): Promise<void> => {
    const browser = await held.agent.connect("s-1");
    const page = await browser.newPage();
    expect(await page.evaluate("1 + 1")).toBe(2);
    await page.close();
    await browser.disconnect();
  };

  // PROC-9
  test("one that starts others without end gets some hundred, in nested namespaces too", async () => {
    // In a pod no process may write what nested namespaces need.
    const nested = place === "pod" ? [] : [`unshare --user --map-root-user ${forks}`];
    for (const command of [forks, ...nested]) {
      const { out } = await held.sh(command);
      expect(Number(out)).toBeGreaterThan(50);
      expect(Number(out)).toBeLessThan(128);
    }
    const others = [1, 2, 3].map(() => held.sh(forks));
    await expectBrowser();
    for (const { out } of await Promise.all(others)) expect(Number(out)).toBeLessThan(128);
    expect(await held.sh("echo after")).toMatchObject({ out: "after\n" });
  }, 60_000);

  // PROC-9
  test("one that takes memory without end is ended, alone or by many", async () => {
    const take = `perl -e 'my @all; while (1) { push @all, "x" x 4000000; select undef, undef, undef, 0.005 }'`;
    const alone = await held.sh(take, { timeout_sec: 60 });
    expect(alone.code).not.toBe(0);
    const many = `perl -e 'for (1 .. 8) { fork or last } my @all; for (1 .. 60) { push @all, "x" x 5000000; select undef, undef, undef, 0.02 } sleep 60'`;
    expect(await held.value("POST", "process/exec", { command: many, timeout_sec: 50 })).toMatchObject({
      ...{ exit_code: 137, timed_out: false },
    });
    await expectBrowser();
  }, 120_000);

  // PROC-8
  test("a gigabyte of output leaves the agent at work, and its memory as it was", async () => {
    const memory = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${held.agent.child.pid}/status`, "utf8"))?.[1]) / 1024;
    await held.sh("true");
    const before = memory();
    const id = await held.spawn("head -c 1000000000 /dev/zero; echo end");
    await expectBrowser();
    const began = performance.now();
    expect((await held.value("GET", `process/${id}/status`)).state).toBe("running");
    expect(performance.now() - began).toBeLessThan(2000);
    const { exit, text } = await held.output(id, "end");
    expect([exit, text.endsWith("end\n")]).toEqual([undefined, true]);
    expect(memory() - before).toBeLessThan(100);
  }, 120_000);

  // PROC-12
  test("the end of the lease ends all of them, daemons too, and the next holder finds none", async () => {
    const id = await held.spawn("setsid sh -c 'setsid sleep 98762 & setsid sleep 98762' & exec sleep 98762");
    const waiting = held.call("POST", "process/exec", { command: "(setsid sleep 98763 &) ; sleep 98763" });
    const answered = waiting.then(
      ({ status }) => status,
      () => "cut",
    );
    await eventually("they run", () => running("98762") >= 3 && running("98763") >= 2);
    expect((await held.call("GET", `process/${id}/status`, undefined, { session: "s-2" })).status).toBe(404);
    expect((await held.agent.release("s-1", 1)).status).toBe(200);
    await eventually("none runs", () => running("98762") + running("98763") === 0);
    expect(["cut", 404]).toContain(await answered);
    expect((await held.call("GET", `process/${id}/status`)).status).toBe(404);
    await eventually("the browser is free", async () => (await held.agent.bind("s-2", 2)).status === 200);
    expect((await held.call("GET", `process/${id}/status`, undefined, { session: "s-2" })).status).toBe(404);
    const { body } = await held.call("POST", "process/exec", { command: "ls -A" }, { session: "s-2" });
    expect(body.answer).toMatchObject({ exit_code: 0, stdout_b64: "" });
  }, 60_000);

  // PROC-12
  test("the end of the agent ends them", async () => {
    const other = await startProcessAgent(agents, place);
    await other.spawn("setsid sleep 98764 & exec sleep 98764");
    await eventually("they run", () => running("98764") >= 2);
    other.agent.child.kill("SIGKILL");
    await eventually("none runs", () => running("98764") === 0);
  });

  // PROC-12
  test("nobody who has gone leaves one behind that nobody waits for", async () => {
    const other = await startProcessAgent(agents, place);
    const gone = new AbortController();
    const asked = other.call("POST", "process/exec", { command: "exec sleep 98766" }, { signal: gone.signal });
    asked.catch(() => undefined);
    await eventually("it runs", () => running("98766") > 0);
    gone.abort();
    await eventually("none runs", () => running("98766") === 0);
  });
});
