/**
 * An acquire that names a profile: a browser of the pool loads it before its caller gets it, as a change of a running
 * browser does (update-browser.ts). Chromium starts anew for it.
 */
import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { updateOf } from "../model/browsers/browser-requests.ts";
import { referencesOf } from "../model/settings/references.ts";
import { requireReferences } from "../objects/references.ts";
import { cachedOrFetchedPool } from "../pools/use-cases/fetch-pool.ts";
import { type AcquireDeps, type AcquireInput, acquireBrowser } from "./acquire-browser.ts";
import type { UserOf } from "./authorize-session.ts";
import { sessionAnswer } from "./session-answer.ts";
import type { StartedSession } from "./start-session.ts";
import { type UpdateDeps, updateBrowser } from "./update-browser.ts";

type Input = AcquireInput & Pick<UserOf, "principal">;
type Deps = AcquireDeps & UpdateDeps;

/**
 * What can be refused before anybody waits: a profile that is not there, a pool whose browsers have one. Returns the
 * pool's start URL.
 */
const checkProfile = async ({ idOrName, request, project }: Input, deps: Deps): Promise<string | undefined> => {
  const updated = updateOf({ profile: request.profile }, {});
  if (!updated.ok) throw invalidInput(updated.problems);
  const profile = updated.change?.profile;
  await requireReferences(referencesOf({ ...(profile && { profile }) }), project, deps);
  const { spec } = await cachedOrFetchedPool(idOrName, project, deps);
  if (!spec.profile) return spec.startUrl;
  throw new AppError("conflict", "profile: browsers of this pool start with its profile; acquire one of another pool");
};

/** As `acquireBrowser`; with a profile it also throws what `updateBrowser` does, and nobody has a browser then. */
export const acquireWithProfile = async (
  input: Input,
  deps: Deps,
  signal: AbortSignal,
): Promise<StartedSession | undefined> => {
  const { request, project, principal, baseUrl } = input;
  const { profile } = request;
  if (!profile) return acquireBrowser(input, deps, signal);
  const startUrlOfPool = await checkProfile(input, deps);
  const handedOut = await acquireBrowser(input, deps, signal);
  if (!handedOut) return undefined;
  try {
    const { session_id: idOrName } = handedOut.session;
    const startUrl = request.start_url || startUrlOfPool;
    const change = { profile, ...(startUrl && { start_url: startUrl }) };
    const lease = await updateBrowser({ idOrName, request: change, principal }, project, deps);
    const session = await sessionAnswer(lease, baseUrl, deps);
    signal.throwIfAborted();
    return { ...handedOut, session };
  } catch (error) {
    handedOut.abandon();
    throw error;
  }
};
