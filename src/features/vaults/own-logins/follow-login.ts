import { setTimeout as sleep } from "node:timers/promises";
import type { ServerEvent, ServerEvents } from "../../../core/http/route.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import type { SessionAnswerDeps } from "../../../core/sessions/session-answer.ts";
import { AppError } from "../../../platform/base/errors.ts";
import { whileUnavailable } from "../../../platform/redis/or-unavailable.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { liveViewOf, type Onlooker } from "../connections/connections.ts";
import { isOver, type LoginFlow } from "./flow.ts";
import { flowEvent } from "./flow-answer.ts";
import type { FlowStore } from "./flow-store.ts";

type Deps = SessionAnswerDeps & FindSessionDeps & { ownLogins: { flows: FlowStore } };

/** Between two looks, ms. A reader that blocks would need a connection to Redis of its own. */
const lookMs = 300;

const follow = async function* (
  first: LoginFlow,
  { uid, onlooker }: { uid: string; onlooker: Onlooker },
  deps: Deps,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  for (let flow = first, said = -1; ; ) {
    if (flow.version !== said) yield { data: flowEvent(flow, await liveViewOf(flow, onlooker, deps)) };
    said = flow.version;
    if (isOver(flow)) return;
    await sleep(lookMs, undefined, { signal });
    const next = await whileUnavailable(() => deps.ownLogins.flows.read(uid), { maxPauseMs: 1000, signal });
    // Another login has begun since, so this one is over; its end was missed.
    if (!next || next.id !== flow.id) return;
    flow = next;
  }
};

/**
 * The states of a connection's login from now on until it is over; of one that is over, its end. Throws `conflict` when
 * there was none.
 */
export const followLogin = async (
  { metadata: { uid } }: AuthConnection,
  onlooker: Onlooker,
  deps: Deps,
  signal: AbortSignal,
): Promise<ServerEvents> => {
  const flow = await deps.ownLogins.flows.read(uid);
  if (!flow) throw new AppError("conflict", "no login of this connection has begun; begin one by POST …/login");
  return follow(flow, { uid, onlooker }, deps, signal);
};
