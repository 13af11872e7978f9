import type { RedisKind } from "../topology/redis-host.ts";
import * as agents from "./agent-faults.ts";
import { apiFreeze } from "./api-freeze.ts";
import { apiKill } from "./api-kill.ts";
import { apiTerm } from "./api-term.ts";
import { apiserverRestart } from "./apiserver-restart.ts";
import { clockBehind } from "./clock-behind.ts";
import { clockJump } from "./clock-jump.ts";
import { eventLoopStall } from "./event-loop-stall.ts";
import type { Fault } from "./fault.ts";
import { foreignPod } from "./foreign-pod.ts";
import { kubeCutReply } from "./kube-cut-reply.ts";
import { leaderFreeze } from "./leader-freeze.ts";
import { nodeCordon } from "./node-cordon.ts";
import { operatorKill } from "./operator-kill.ts";
import { operatorTerm } from "./operator-term.ts";
import { podDrain } from "./pod-drain.ts";
import * as pools from "./pool-faults.ts";
import { redisBlackhole } from "./redis-blackhole.ts";
import { redisClientKill } from "./redis-client-kill.ts";
import { redisCutReply } from "./redis-cut-reply.ts";
import { redisFailover } from "./redis-failover.ts";
import { redisFlushall } from "./redis-flushall.ts";
import { redisFull } from "./redis-full.ts";
import { redisKill } from "./redis-kill.ts";
import { redisMasterFreeze } from "./redis-master-freeze.ts";
import { redisMasterKill } from "./redis-master-kill.ts";
import { redisPowerLoss } from "./redis-power-loss.ts";
import { redisScriptFlush } from "./redis-script-flush.ts";
import { redisSlow } from "./redis-slow.ts";
import { redisUnreachable } from "./redis-unreachable.ts";
import { startsFailing } from "./starts-failing.ts";
import { watchDrop } from "./watch-drop.ts";
import { watchExpired } from "./watch-expired.ts";
import { watchLate } from "./watch-late.ts";
import { watchStall } from "./watch-stall.ts";

/** Every kind of fault by the name that `--faults` takes. */
export const allFaults = {
  "redis-kill": redisKill,
  "redis-power-loss": redisPowerLoss,
  "redis-flushall": redisFlushall,
  "redis-failover": redisFailover,
  "redis-slow": redisSlow,
  "redis-blackhole": redisBlackhole,
  "redis-unreachable": redisUnreachable,
  "redis-cut-reply": redisCutReply,
  "redis-script-flush": redisScriptFlush,
  "redis-client-kill": redisClientKill,
  "redis-full": redisFull,
  "redis-master-kill": redisMasterKill,
  "redis-master-freeze": redisMasterFreeze,
  "apiserver-restart": apiserverRestart,
  "watch-drop": watchDrop,
  "watch-stall": watchStall,
  "watch-late": watchLate,
  "watch-expired": watchExpired,
  "kube-cut-reply": kubeCutReply,
  "api-kill": apiKill,
  "api-term": apiTerm,
  "api-freeze": apiFreeze,
  "event-loop-stall": eventLoopStall,
  "operator-kill": operatorKill,
  "operator-term": operatorTerm,
  "leader-freeze": leaderFreeze,
  "clock-jump": clockJump,
  "clock-behind": clockBehind,
  "agent-crash": agents.agentCrash,
  "chromium-crash": agents.chromiumCrash,
  "pod-evict": agents.podEvict,
  "agents-slow": agents.agentsSlow,
  "agents-slow-answer": agents.agentsSlowAnswer,
  "agents-dead": agents.agentsDead,
  "agents-refusing": agents.agentsRefusing,
  "agents-unhealthy": agents.agentsUnhealthy,
  "foreign-pod": foreignPod,
  "starts-failing": startsFailing,
  "node-cordon": nodeCordon,
  "pod-drain": podDrain,
  "pool-resize": pools.poolResize,
  "pool-rate": pools.poolRate,
  "pool-reconfigure": pools.poolReconfigure,
  "pool-flush": pools.poolFlush,
  "pool-recreate": pools.poolRecreate,
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof allFaults;

export const faultNames = Object.keys(allFaults) as FaultName[];

/** Those that can be caused with this kind of Redis. */
export const faultsWith = (redis: RedisKind): FaultName[] =>
  faultNames.filter((name) => (allFaults[name] as Fault).redis?.includes(redis) ?? true);
