/**
 * Which browser the holder of a blank one wants. An agent whose pod says so (`BrowserConfig.blank`) starts no Chromium
 * before a lease holds the browser and this has arrived. The API sends it, sealed for the agent:
 *
 *   PUT /start              StartBrowser  → 200 MissingArchives: with none missing, the browser is up and the lease's
 *                                         | 409 not_holder: the session does not hold the browser (any more)
 *                                         | 503 browser_unhealthy: it does not start, and the agent ends
 *   PUT /archives/{sha256}  each of them  → 200 MissingArchives
 *
 * Both calls can be repeated. From the first one on, the browser is for this lease alone: the agent refuses all others,
 * whatever becomes of it.
 */
import { z } from "zod";
import { BrowserConfig, Fence, maxSessionId } from "./agent-api.ts";
import { BrowserSetup } from "./browser-setup.ts";

/** The body of `PUT /start`. */
export const StartBrowser = Fence.extend({
  /** The lease whose holder asks. */
  session_id: z.string().min(1).max(maxSessionId),
  browser: BrowserConfig,
  /** Left out, it needs no more than `browser` says. */
  setup: BrowserSetup.optional(),
});
export type StartBrowser = z.infer<typeof StartBrowser>;
