/**
 * What the holder of a browser has changed in it while it runs. The API sends it to the agent, sealed for it; it ends
 * with the lease:
 *
 *   PUT /change  BrowserChange with `apply: false` → 200 MissingArchives: nothing has changed yet
 *   PUT /archives/{sha256}  each of them           → 200 MissingArchives
 *   PUT /change  BrowserChange with `apply: true`  → 200 MissingArchives: with none missing, all of it holds now; else nothing does
 *                                                  | 409 not_holder: the session does not hold the browser (any more)
 *                                                  | 409 profile_loaded, profile_refused, screen_too_small, viewport_refused
 *                                                  | 503 browser_unhealthy, stopping
 *
 * All calls can be repeated. A change that is refused has changed nothing. One whose browser does not come back ends
 * the browser.
 */
import { z } from "zod";
import { AgentLocation, AgentViewport, Fence, maxRequestChars, maxSessionId, TimeoutSeconds } from "./agent-api.ts";
import { ArchiveRef, NetworkSetup, ParentProxy } from "./browser-setup.ts";

/** The body of `PUT /change`. */
export const BrowserChange = Fence.extend({
  /** The lease whose holder asks. */
  session_id: z.string().min(1).max(maxSessionId),
  apply: z.boolean(),
  viewport: AgentViewport.optional(),
  /** The proxy that takes all that no route takes; null: none. */
  proxy: ParentProxy.nullable().optional(),
  /** Chromium starts anew with this profile. Without an archive nothing is saved in it yet. */
  profile: z.object({ archive: ArchiveRef.optional() }).optional(),
  /** Chromium starts anew with it. */
  location: AgentLocation.optional(),
  /** What it may reach from now on; null: all hosts. Connections to others are cut. */
  allowed_hosts: NetworkSetup.shape.allowed_hosts.unwrap().nullable().optional(),
  /** Opened once all else has changed, best effort; it alone is no change of the browser. */
  start_url: z.string().max(2048).optional(),
  /** The lease's from then on (`BindLease.timeout_seconds`); it alone is no change of the browser. */
  timeout_seconds: TimeoutSeconds.optional(),
  /** The lease's request from then on (`BindLease.request`). */
  request: z.string().max(maxRequestChars).optional(),
});
export type BrowserChange = z.infer<typeof BrowserChange>;

/** Whether anything of the browser changes. */
export const changesBrowser = ({
  viewport,
  proxy,
  profile,
  location,
  allowed_hosts: hosts,
}: Partial<BrowserChange>): boolean => [viewport, proxy, profile, location, hosts].some((part) => part !== undefined);
