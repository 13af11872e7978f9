/**
 * What the page of one tab asks its person for, from each place where it can ask (ask.ts), while a viewer may answer.
 */
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import { type Asks, createAsks } from "./ask.ts";
import type { AuthRequired } from "./events.ts";
import { type FileChoosers, type Uploads, watchFileChoosers } from "./file-chooser.ts";
import { watchPickers } from "./open-picker.ts";
import type { InputMessage } from "./tab-input.ts";

// Logins of HTTP that a document of the tab asks for, while there is a viewer who may answer. A client that answers
// them itself is asked before us, whoever came first.

const timeoutMs = 5000;

/** Only documents: each request that is looked at waits for us. */
const patterns = [{ urlPattern: "*", resourceType: "Document" as const }];

type Logins = {
  /** Whether logins are asked for. */
  setActive(isActive: boolean): void;
  onPaused(request: { requestId: string }): void;
  onAuthRequired(event: AuthRequired): void;
};

/** Not active yet. */
const watchLogins = (cdp: CdpConnection, sessionId: string, asks: Asks): Logins => {
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

/** What nobody answers is cancelled after this, ms. The page may go on beside it. */
const askMs = 180_000;

type PageAsks = Pick<Asks, "present" | "answer"> &
  Pick<Logins, "onPaused" | "onAuthRequired"> & {
    onChooser: FileChoosers["onOpened"];
    /** A viewer has sent this input. */
    onInput(message: InputMessage): void;
    /** Whether there is a viewer who may answer. */
    setActive(isActive: boolean): void;
    /** The page can take no answer any more. */
    end(): void;
    /** Ends for good. */
    stop(): void;
  };

type PageAsksDeps = {
  cdp: CdpConnection;
  sessionId: string;
  uploads: Uploads;
  mask(text: string): string;
  onNews(): void;
};

const opensNothing = (message: InputMessage): boolean =>
  message.type === "wheel" || (message.type === "mouse" && message.action === "move");

/** Nobody may answer yet. */
export const createPageAsks = ({ cdp, sessionId, uploads, mask, onNews }: PageAsksDeps): PageAsks => {
  const asks = createAsks(askMs, onNews);
  const pickers = watchPickers({ cdp, sessionId, asks, mask });
  const logins = watchLogins(cdp, sessionId, asks);
  const choosers = watchFileChoosers(cdp, { sessionId, asks, uploads });
  return {
    present: asks.present,
    answer: asks.answer,
    onPaused: logins.onPaused,
    onAuthRequired: logins.onAuthRequired,
    onChooser: choosers.onOpened,
    onInput(message) {
      if (!opensNothing(message)) pickers.look();
    },
    setActive(isActive) {
      logins.setActive(isActive);
      choosers.setActive(isActive);
      if (isActive) pickers.look();
      else asks.end();
    },
    end: asks.end,
    stop() {
      pickers.stop();
      asks.end();
    },
  };
};
