/**
 * Who is signed in.
 *
 *   unknown ──GET /console/session──► signed in, or nobody
 *   nobody ──key or code──► signed in ──signOut, or the service says 401──► nobody, with a reason
 */
import { effect, signal } from "@preact/signals";
import { projectInAddress } from "../router.ts";
import { ApiError, call, project, signedOut } from "./api.ts";

export type SignedIn = {
  key: { id: string; name: string };
  permissions: string[];
  scope: "organization" | "project";
  project: { id: string; name: string } | null;
  expires_at: string;
  version: string;
  /** Parts of the service that do not answer it. */
  away: string[];
};

/** `undefined`: not known yet. `reason`: why nobody is signed in; "" where that needs no words. */
export const session = signal<SignedIn | { reason: string } | undefined>(undefined);

/** Whether the key of this person has the permission. The API refuses what it may not do, whatever a page offers. */
export const may = (permission: string): boolean => {
  const known = session.value;
  return known !== undefined && "key" in known && known.permissions.includes(permission);
};

const begin = (known: SignedIn): void => {
  signedOut.value = undefined;
  project.value = projectInAddress() ?? known.project?.id;
  session.value = known;
};

/** Signs in with an API key, or with a code. Throws `ApiError`. */
export const signIn = async (shown: { api_key: string } | { code: string }): Promise<void> =>
  begin(await call<SignedIn>("POST", "/console/session", { body: shown }));

/** Ends the session. */
export const signOut = async (): Promise<void> => {
  await call("DELETE", "/console/session").catch(() => undefined);
  session.value = { reason: "" };
};

/** The code behind the `#` of the address, taken out of it: no history keeps it. */
const takeCode = (): string | undefined => {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? undefined;
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
};

/** Finds out who is signed in. */
export const findSession = async (): Promise<void> => {
  const code = takeCode();
  try {
    if (code !== undefined) return await signIn({ code });
    begin(await call<SignedIn>("GET", "/console/session"));
  } catch (error) {
    const known = error instanceof ApiError ? error : undefined;
    if (code !== undefined && known?.status === 401) return findSession().then(() => undefined);
    session.value = { reason: known && known.status !== 401 ? known.message : "" };
  }
};

effect(() => {
  if (signedOut.value !== undefined) session.value = { reason: signedOut.value };
});
