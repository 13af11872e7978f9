import { readOnlyView, viewHeader } from "../../core/protocol/agent-api.ts";
import { type AuthorizeSessionDeps, authorizeSession } from "../../core/sessions/authorize-session.ts";

/** What a live view's page is asked for. `readOnly`: it shall only show the browser, whatever its token allows. */
type AskedView = { sessionId: string; token: string; readOnly: boolean };

/** Whether the view of this token may be opened now, and whether it only shows the browser. Throws as `authorizeSession`. */
export const openLiveView = async (
  asked: AskedView,
  deps: AuthorizeSessionDeps,
): Promise<{ readOnly: boolean; projectId: string }> => {
  const { headers, projectId } = await authorizeSession({ ...asked, path: "/view" }, deps);
  return { readOnly: headers[viewHeader] === readOnlyView, projectId };
};
