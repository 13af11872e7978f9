/** What happened on the node: the agents' own logs, and the pods as an independent watch of the API server saw them. */
import { z } from "zod";
import { eventOf } from "./event-base.ts";

/**
 * A line of an agent's log.
 *
 *   bound     it took a lease: from now on `session` may use its browser
 *   ended     it gave up the lease of `session`; whatever its sockets carry from now on is refused
 *   refused   it refused a bind, an end or a socket with `code`
 *   raised    it was asked under a new epoch and refuses binds of older ones from now on
 *   cdp       it let a command through: `session` is who opened the socket, `holder` who held the browser in that moment
 *   reset     it has made its browser anew
 *   exit      its process is gone
 */
export const AgentEvent = eventOf("agent", {
  what: z.enum(["bound", "ended", "refused", "raised", "cdp", "reset", "exit"]),
  /** Uid of the pod, which is the browser's id. */
  browser: z.string(),
  pod: z.string(),
  session: z.string().optional(),
  holder: z.string().nullable().optional(),
  epoch: z.int().optional(),
  seq: z.int().optional(),
  code: z.string().optional(),
  /** Cdp: the text by which the client's call is found. */
  command: z.string().optional(),
});

export const PodEvent = eventOf("pod", {
  change: z.enum(["ADDED", "MODIFIED", "DELETED"]),
  browser: z.string(),
  pod: z.string(),
  /** Uid of the pool, from the label. */
  pool: z.string(),
  phase: z.string(),
  ready: z.boolean(),
  /** `metadata.creationTimestamp` and `deletionTimestamp`, ISO. */
  createdAt: z.string(),
  deletionAt: z.string().optional(),
  /** From the termination message, or the pod's `status.reason`; set when phase is Succeeded or Failed. */
  endedReason: z.string().optional(),
});
