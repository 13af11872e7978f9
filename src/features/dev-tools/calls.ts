/** The calls by which a holder's client finds its browser: contracts for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Longest title and URL of a page that are told, characters: a page may have some of megabytes. */
export const longestText = 4096;

/** In the words of Chromium's own DevTools port. */
export const Version = z.object({
  Browser: z.string().describe("Product and version, such as Chrome/156.0.8031.0."),
  "Protocol-Version": z.string().describe("The version of CDP."),
  "User-Agent": z.string(),
  "V8-Version": z.string(),
});

const Target = z.object({
  id: z.string().describe("The targetId of CDP."),
  type: z.string().describe("page, iframe, worker, service_worker, …"),
  title: z.string().describe(`The first ${longestText} characters.`),
  url: z.string().describe(`The first ${longestText} characters.`),
});
export type Target = z.infer<typeof Target>;

export const Targets = z
  .array(Target)
  .describe("No target has a webSocketDebuggerUrl: a client attaches to targets over the session's one socket.");

/** The versions of Chromium and of what is in it. */
export const readVersion = callContract({ method: "get", name: "json/version", answer: Version });

/** What `Target.getTargets` tells over CDP. */
export const listTargets = callContract({ method: "get", name: "json/list", answer: Targets });

/** With what a client asks for: where it connects. */
export const VersionAnswer = Version.extend({
  webSocketDebuggerUrl: z.string().describe("The session's cdp_ws_url, on the address by which the caller came."),
});
