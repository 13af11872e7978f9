/** The processes that the holder of a browser runs beside it: its calls, and their end with the lease. */
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import {
  execProcess,
  killProcess,
  mostExecBytes,
  processStatus,
  resizeTerminal,
  spawnProcess,
  usualExecSeconds,
  writeStdin,
} from "../calls.ts";
import type { ProcessOrder } from "./minded-process.ts";
import type { OutputRing, OutputStream } from "./output-ring.ts";
import { processCommand } from "./process-command.ts";
import { createProcesses, type Processes } from "./processes.ts";

type SessionProcesses = LeaseFollower & {
  handlers: readonly CallHandler[];
  /** The output of a process of the session that holds the browser. */
  read: (id: string) => OutputRing["read"] | undefined;
};

type Held = { over: AbortController; processes?: Processes };

type Asked = {
  command: string;
  args?: string[] | undefined;
  cwd?: string | null | undefined;
  env?: Record<string, string> | undefined;
};

const orderOf = ({ command, args, cwd, env = {} }: Asked, tty?: ProcessOrder["tty"]): ProcessOrder => ({
  ...{ command, args, cwd: cwd ?? undefined, env, tty },
});

/** The first bytes of a stream. */
const createHead = () => {
  const chunks: Buffer[] = [];
  let [length, isTruncated] = [0, false];
  return {
    push(bytes: Buffer): void {
      const kept = bytes.subarray(0, mostExecBytes - length);
      isTruncated ||= kept.length < bytes.length;
      length += kept.length;
      if (kept.length > 0) chunks.push(Buffer.from(kept));
    },
    base64: () => Buffer.concat(chunks).toString("base64"),
    isTruncated: () => isTruncated,
  };
};

const runToEnd = async (processes: Processes, asked: Asked, { seconds, gone }: { seconds: number; gone: Gone }) => {
  const heads = { stdout: createHead(), stderr: createHead() };
  const startMs = performance.now();
  const onOutput = (stream: OutputStream, bytes: Buffer): void => heads[stream].push(bytes);
  const { process, isLate } = await processes.start(orderOf(asked), { seconds, hasInput: false, onOutput });
  gone(process.end);
  const exit_code = await process.ended;
  return {
    exit_code,
    stdout_b64: heads.stdout.base64(),
    stderr_b64: heads.stderr.base64(),
    duration_ms: Math.round(performance.now() - startMs),
    timed_out: isLate(),
    stdout_truncated: heads.stdout.isTruncated(),
    stderr_truncated: heads.stderr.isTruncated(),
  };
};

/** Has a function called when nobody waits for an answer any more. */
type Gone = (end: () => void) => void;

/** Why this agent runs none, whoever asks; undefined when it does. */
const whyNone = ({ processes }: Pick<AgentConfig, "processes">): string | undefined => {
  if (!processes) return "processes are off here; an administrator turns them on (docs/processes.md)";
  // The kernel does not count them for root, so nothing would bound how many there are.
  if (process.getuid?.() === 0) return "this browser's agent runs as root, and runs no processes for others then";
  return undefined;
};

/** No lease yet. */
export const createSessionProcesses = (config: AgentConfig): SessionProcesses => {
  let held: Held | undefined;
  const processes = (): Processes => {
    if (!held) throw new CallRefused("not_found", "the session is over");
    const none = whyNone(config);
    if (none !== undefined) throw new CallRefused("not_supported_here", none);
    held.processes ??= createProcesses(processCommand(config), held.over.signal);
    return held.processes;
  };
  const ok = { value: { ok: true } };

  const handlers = [
    callHandler(execProcess, async ({ body, request }) => {
      const seconds = body.timeout_sec ?? usualExecSeconds;
      const gone: Gone = (end) => {
        request.socket.once("close", end);
        if (request.socket.destroyed) end();
      };
      return { value: await runToEnd(processes(), body, { seconds, gone }) };
    }),
    callHandler(spawnProcess, async ({ body }) => {
      const { allocate_tty: hasTty, cols = 80, rows = 24, timeout_sec: seconds } = body;
      const order = orderOf(body, hasTty ? { cols, rows } : undefined);
      const { id, process, startedAt } = await processes().spawn(order, seconds ?? undefined);
      return { value: { process_id: id, pid: process.pid, started_at: startedAt.toISOString() } };
    }),
    callHandler(processStatus, async ({ param }) => {
      const all = processes();
      const found = all.find(param);
      const { cpuPct, memBytes } = all.usage(found);
      const { exitCode } = found;
      const state = exitCode === undefined ? { state: "running" } : { state: "exited", exit_code: exitCode };
      return { value: { ...state, cpu_pct: cpuPct, mem_bytes: memBytes } };
    }),
    callHandler(writeStdin, async ({ param, body }) => {
      const { process } = processes().findRunning(param);
      const bytes = Buffer.from(body.data_b64, "base64");
      process.write(bytes);
      return { value: { written_bytes: bytes.length } };
    }),
    callHandler(resizeTerminal, async ({ param, body }) => {
      const { process, hasTty } = processes().findRunning(param);
      if (!hasTty) throw new CallRefused("conflict", "the process has no terminal; start it with allocate_tty");
      process.resize(body);
      return ok;
    }),
    callHandler(killProcess, async ({ param, body }) => {
      const { process } = processes().findRunning(param);
      if (body.signal === "KILL") process.end();
      else process.signal(body.signal);
      return ok;
    }),
  ];
  return {
    handlers,
    read: (id) => held?.processes?.read(id),
    begin() {
      held = { over: new AbortController() };
    },
    end() {
      held?.over.abort();
      held = undefined;
    },
  };
};
