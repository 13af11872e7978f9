/** The logs of a lease, as its agent streams them: `GET /logs?session=…&source=…&follow=…`, lines of `LogLine`. */
import { z } from "zod";
import { maxSessionId } from "../../../core/protocol/agent-api.ts";

/** `chromium`: what Chromium writes to its standard error. `agent`: what the agent says of the lease. */
export const LogSource = z.enum(["chromium", "agent"]);
export type LogSource = z.infer<typeof LogSource>;

/** Longest message of a line, characters. */
export const maxLogChars = 2000;

/** One line; `timestamp`: when the agent got it. */
export const LogLine = z.object({ message: z.string().max(maxLogChars), timestamp: z.iso.datetime() });
export type LogLine = z.infer<typeof LogLine>;

/** The query of the call. `follow`: lines that come later are sent too, until the lease ends. */
export const LogQuery = z.object({
  session: z.string().min(1).max(maxSessionId),
  source: LogSource,
  follow: z.enum(["true", "false"]).default("false"),
});

/** The call's path with its query. */
export const logPath = ({ session, source, follow }: { session: string; source: LogSource; follow: boolean }): string =>
  `/logs?${new URLSearchParams({ session, source, follow: String(follow) })}`;
