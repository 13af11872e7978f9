/** The code that the holder of a browser runs beside it: its calls, and the end of its executors with the lease. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Browser } from "../../../core/agent/browser.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { groupsFileOf } from "../../../core/agent/chromium.ts";
import { type GuestDeps, joinGuest } from "../../../core/agent/join-guest.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import { readRequestHeaders } from "../../../platform/cdp/http-head.ts";
import { defaultExecutor, deleteExecutor, executePlaywright, listExecutors, runRepl } from "../calls.ts";
import { executorCommand } from "./executor-command.ts";
import { type ExecutorProcess, startExecutorProcess } from "./executor-process.ts";
import { createExecutors, type Executors, type Ran } from "./executors.ts";
import { streamOf } from "./outcome.ts";
import { tabsOf } from "./tabs.ts";

type CodeDeps = GuestDeps & {
  config: AgentConfig;
  browser: Pick<Browser, "pageOrder">;
};

type SessionCode = LeaseFollower & { handlers: readonly CallHandler[] };

type Held = { session: string; since: Date; over: AbortController; executors?: Executors };

const joining =
  (deps: CodeDeps, session: string) =>
  async (client: Socket, withinMs: number): Promise<void> => {
    const headers = await readRequestHeaders(client, withinMs);
    await joinGuest({ request: { headers }, client, head: Buffer.alloc(0) }, { session, kind: "cdp" }, deps);
  };

const makeExecutors = (deps: CodeDeps, { session, since, over }: Held): Executors => {
  const { config, browser } = deps;
  const starting = {
    command: executorCommand(config),
    groupsFile: groupsFileOf(config),
    join: joining(deps, session),
  };
  return createExecutors({
    start: () => startExecutorProcess(starting, over.signal),
    tabs: tabsOf(browser),
    since,
  });
};

const errorOf = ({ end }: Ran): { error: string; stack: string } | undefined => ("error" in end ? end : undefined);

/** No lease yet. */
export const createSessionCode = (deps: CodeDeps): SessionCode => {
  let held: Held | undefined;
  const replIds = new WeakMap<ExecutorProcess, string>();
  const executors = (): Executors => {
    if (!held) throw new CallRefused("not_found", "the session is over");
    held.executors ??= makeExecutors(deps, held);
    return held.executors;
  };
  const idOf = (process: ExecutorProcess): string => {
    const id = replIds.get(process) ?? randomBytes(12).toString("hex");
    replIds.set(process, id);
    return id;
  };

  const handlers = [
    callHandler(executePlaywright, async ({ body, request }) => {
      const { code, executor = defaultExecutor, timeout_sec: seconds } = body;
      const isWanted = (): boolean => !request.socket.destroyed;
      const ran = await executors().run(executor, { code, mode: "function", seconds, isWanted });
      const [failed, stdout, stderr] = [errorOf(ran), streamOf(ran, "stdout"), streamOf(ran, "stderr")];
      const json = "json" in ran.end ? ran.end.json : undefined;
      return {
        value: {
          success: !failed,
          ...(json !== undefined && { result: JSON.parse(json) }),
          ...(failed && { error: failed.stack }),
          ...(stdout !== undefined && { stdout }),
          ...(stderr !== undefined && { stderr }),
          ...(ran.tab && { tab: ran.tab }),
        },
      };
    }),
    callHandler(listExecutors, async () => ({ value: { executors: await executors().list() } })),
    callHandler(deleteExecutor, async ({ param, query }) => {
      await executors().delete(param, query.close_tab !== "false");
      return {};
    }),
    callHandler(runRepl, async ({ body, request }) => {
      const { code, reset, timeout_sec: seconds } = body;
      const all = executors();
      if (reset) all.resetRepl();
      const startMs = performance.now();
      const isWanted = (): boolean => !request.socket.destroyed;
      const ran = await all.run(undefined, { code, mode: "repl", seconds, isWanted });
      return {
        value: {
          repl_id: idOf(ran.process),
          success: !errorOf(ran),
          content: ran.content,
          content_truncated: ran.isTruncated,
          duration_ms: Math.round(performance.now() - startMs),
          ...errorOf(ran),
          repl_terminated: ran.hasEnded,
        },
      };
    }),
  ];
  return {
    handlers,
    begin({ session_id }) {
      held = { session: session_id, since: new Date(), over: new AbortController() };
    },
    end() {
      held?.over.abort();
      held = undefined;
    },
  };
};
