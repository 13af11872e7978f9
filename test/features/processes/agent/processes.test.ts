/** Processes beside a browser, with the agent and the Chromium of a pod, and of local mode. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type ProcessAgent, places, startProcessAgent } from "./process-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe.each(places)("in a %s", (place) => {
  let held: ProcessAgent;
  beforeAll(async () => {
    held = await startProcessAgent(agents, place);
  });

  // PROC-3
  test("a command of the shell runs to its end, with what it wrote and how it ended", async () => {
    const command = "echo out; echo err >/dev/stderr; cat; exit 3";
    expect(await held.value("POST", "process/exec", { command })).toEqual({
      ...{ exit_code: 3, stdout_b64: base64("out\n"), stderr_b64: base64("err\n"), timed_out: false },
      ...{ duration_ms: expect.any(Number), stdout_truncated: false, stderr_truncated: false },
    });
    expect((await held.sh("kill -INT $$")).code).toBe(130);
  });

  // PROC-3
  test("a program has its arguments, its folder and its variables, and none of the agent's", async () => {
    expect(await held.sh("printf", { args: ["%s|", "a b", "", "$HOME"] })).toMatchObject({ out: "a b||$HOME|" });
    await held.sh("mkdir -p here", {});
    const env = { A: "1=2", B: "ü\n" };
    const { out } = await held.sh("pwd; env -0 | sort -z | tr '\\0' ';'", { cwd: "/tmp/work/here", env });
    const work = `${held.files}/work`;
    const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    expect(out).toBe(
      `${work}/here\nA=1=2;B=ü\n;HOME=${work};LANG=C.UTF-8;PATH=${usual};PWD=${work}/here;TMPDIR=${work};`,
    );
  });

  // PROC-4
  test.each([
    ["a program that there is not", { command: "nothing-here", args: [] }, /^command: No such file/],
    ["a folder that there is not", { command: "true", cwd: "/tmp/none" }, /^cwd: No such file/],
    ["a folder elsewhere", { command: "true", cwd: "/etc" }, /cwd: must be \/tmp/],
    ["a path out of the folder", { command: "true", cwd: "/tmp/../etc" }, /cwd: must be/],
    ["a name that is no variable", { command: "true", env: { "A=B": "1" } }, /env/],
    ["a NUL", { command: "a\0b" }, /command: has a NUL/],
  ])("%s is refused by name", async (_what, body, message) => {
    expect(await held.call("POST", "process/exec", body)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(message) },
    });
  });

  // PROC-5
  test("time over ends it, with all that it has started", async () => {
    const began = performance.now();
    const { exit_code, timed_out } = await held.value("POST", "process/exec", {
      command: "setsid sleep 98765 & sleep 98765",
      timeout_sec: 1,
    });
    expect({ exit_code, timed_out }).toEqual({ exit_code: 137, timed_out: true });
    expect(performance.now() - began).toBeLessThan(10_000);
    const id = await held.spawn("sleep 98765", { timeout_sec: 1 });
    expect(await held.output(id)).toEqual({ text: "", exit: 137, lost: 0 });
  });

  // PROC-6
  test("one that goes on takes input, and its output is read while it runs and after", async () => {
    const id = await held.spawn("while read line; do echo got $line; done; echo over");
    const input = { data_b64: base64("a\nb\n") };
    expect(await held.value("POST", `process/${id}/stdin`, input)).toEqual({ written_bytes: 4 });
    expect((await held.output(id, "got b")).text).toBe("got a\ngot b\n");
    expect(await held.value("GET", `process/${id}/status`)).toMatchObject({ state: "running" });
    await held.value("POST", `process/${id}/kill`, { signal: "TERM" });
    const first = await held.output(id);
    expect(first).toEqual({ text: "got a\ngot b\n", exit: 143, lost: 0 });
    expect(await held.output(id)).toEqual(first);
    expect(await held.value("GET", `process/${id}/status`)).toEqual({
      ...{ state: "exited", exit_code: 143, cpu_pct: 0, mem_bytes: 0 },
    });
    for (const [name, body] of [
      ["kill", { signal: "TERM" }],
      ["stdin", input],
      ["resize", { cols: 1, rows: 1 }],
    ] as const)
      expect((await held.call("POST", `process/${id}/${name}`, body)).status).toBe(409);
  });

  // PROC-7
  test("a terminal has its size, a new one too, and an end of input", async () => {
    const script = "trap 'stty size' WINCH; stty size; echo ready; cat; tty >/dev/null && echo terminal";
    const id = await held.spawn("bash", { args: ["-c", script], allocate_tty: true, cols: 91, rows: 17 });
    expect((await held.output(id, "ready")).text).toMatch(/^17 91\r\n/);
    await held.value("POST", `process/${id}/resize`, { cols: 50, rows: 20 });
    await held.value("POST", `process/${id}/stdin`, { data_b64: base64("typed\n\x04") });
    const { text, exit } = await held.output(id);
    // The echo, the shell's answer to it, and its answer to the new size, which may come between the two.
    expect(text.match(/typed\r\n/g)).toHaveLength(2);
    expect(text).toContain("20 50\r\n");
    expect(text).toMatch(/terminal\r\n$/);
    expect(exit).toBe(0);
    const plain = await held.spawn("sleep 98765");
    expect((await held.call("POST", `process/${plain}/resize`, { cols: 1, rows: 1 })).status).toBe(409);
    await held.value("POST", `process/${plain}/kill`, { signal: "KILL" });
    expect((await held.output(plain)).exit).toBe(137);
  });

  // PROC-6
  test.each([
    ["INT", 130],
    ["HUP", 129],
  ])("SIG%s goes to it and to its group", async (signal, code) => {
    const id = await held.spawn("sleep 98765 | cat; exit 9", {});
    await eventually("it runs", async () => (await held.value("GET", `process/${id}/status`)).mem_bytes > 0);
    await held.value("POST", `process/${id}/kill`, { signal });
    expect((await held.output(id)).exit).toBe(code);
  });

  // PROC-8
  test("of output without end the last is kept, and of a caller's that waits the first", async () => {
    const { out } = await held.sh("head -c 50000000 /dev/zero | tr '\\0' x");
    expect(out.length).toBe(1024 * 1024);
    const id = await held.spawn("head -c 3000000 /dev/zero | tr '\\0' x; echo end");
    await eventually("it has ended", async () => (await held.value("GET", `process/${id}/status`)).state === "exited");
    const { text, lost, exit } = await held.output(id);
    expect(text.endsWith("xend\n")).toBe(true);
    expect(text.length).toBeLessThanOrEqual(256 * 1024);
    expect(text.length + lost).toBe(3_000_004);
    expect(exit).toBe(0);
  });

  // PROC-9
  test("eight run at once, and of those that have ended the last ones are known", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 8; at++) ids.push(await held.spawn("sleep 98765"));
    for (const name of ["exec", "spawn"])
      expect(await held.call("POST", `process/${name}`, { command: "true" })).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining("8 processes") },
      });
    for (const id of ids) {
      await held.value("POST", `process/${id}/kill`, { signal: "KILL" });
      await held.output(id);
    }
    for (let at = 0; at < 16; at++) await held.output(await held.spawn("true"));
    expect((await held.call("GET", `process/${ids[0]}/status`)).status).toBe(404);
  });
});
