import { z } from "zod";
import { announcedNames, type Identity } from "../../core/api/announced.ts";
import { BrowserPoolAnswer } from "../../core/model/pools/browser-pool-wire.ts";
import { Session } from "../../core/model/sessions/session-wire.ts";

/** What an event is about. */
const kinds = ["pool", "session", ...announcedNames] as const;

/** The data of one event. */
export const ProjectEvent = z.object({
  event: z
    .enum(["current", "synced", "created", "changed", "deleted", "reset"])
    .describe(
      "current: it is there, with initial_events. synced: all that is there was told. reset: events may be missing here, so read the lists again.",
    ),
  kind: z.enum(kinds).optional().describe("Left out in synced and reset, as is all but the time."),
  id: z.string().optional().describe("The object's id, or the session's."),
  name: z.string().optional().describe("Its name, if it has one; of a vault_item its key."),
  vault_id: z.string().optional().describe("Of a vault_item: its vault."),
  object: z
    .union([Session, BrowserPoolAnswer])
    .optional()
    .describe(
      "A pool or a session as their lists show it, the session without its URLs. A deleted pool has none, nor has a session that ended before its caller had it; other kinds never have one.",
    ),
  timestamp: z.iso.datetime().describe("When this replica learned of it."),
});
export type ProjectEvent = z.infer<typeof ProjectEvent>;

/** What is told of an object. */
export type Told = Identity & {
  event: "current" | "created" | "changed" | "deleted";
  kind: (typeof kinds)[number];
  object?: ProjectEvent["object"];
};

/** An event as it is sent. */
export const eventJson = (event: Told | { event: "synced" | "reset" }): string =>
  JSON.stringify({ ...event, timestamp: new Date().toISOString() } satisfies ProjectEvent);
