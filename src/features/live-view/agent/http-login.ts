/**
 * Logins of HTTP that a document of the tab asks for, while there is a viewer who may answer. A client that answers them itself is asked
 * before us, whoever came first.
 */
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { Asks } from "./ask.ts";
import type { AuthRequired } from "./events.ts";

const timeoutMs = 5000;

/** Only documents: each request that is looked at waits for us. */
const patterns = [{ urlPattern: "*", resourceType: "Document" as const }];

export type Logins = {
  /** Whether logins are asked for. */
  setActive(isActive: boolean): void;
  onPaused(request: { requestId: string }): void;
  onAuthRequired(event: AuthRequired): void;
};

/** Not active yet. */
export const watchLogins = (cdp: CdpConnection, sessionId: string, asks: Asks): Logins => {
  const call = { sessionId, timeoutMs };
  return {
    setActive: (isActive) =>
      tell(
        isActive
          ? cdp.send("Fetch.enable", { patterns, handleAuthRequests: true }, call)
          : cdp.send("Fetch.disable", undefined, call),
      ),
    onPaused: ({ requestId }) => tell(cdp.send("Fetch.continueRequest", { requestId }, call)),
    onAuthRequired({ requestId, authChallenge: { source, origin } }) {
      const respond = (response: "Default" | "CancelAuth"): void =>
        tell(cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse: { response } }, call));
      // Passwords of proxies are the service's.
      if (source === "Proxy") return respond("Default");
      asks.put(
        { kind: "login", site: origin },
        {
          answer(message) {
            if (message.type !== "login") return respond("CancelAuth");
            const { username, password } = message;
            const given = { response: "ProvideCredentials" as const, username, password };
            tell(cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse: given }, call));
          },
          cancel: () => respond("CancelAuth"),
        },
      );
    },
  };
};
