/**
 * Watches the first navigation of a session whose holder allows it, over a connection of its own to Chromium, and keeps
 * its verdict. All else that it sees of the page is dropped at once. The connection is closed when the verdict is
 * there.
 */
import { z } from "zod";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import { bareHost, urlHost } from "../../../platform/base/host-port.ts";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { targetOf } from "../rules/target.ts";
import { createFirstNavigationFinder, type FirstNavigation } from "./first-navigation.ts";
import { enableEvents, type FollowedNavigation, followNavigation, type Verdict } from "./follow-navigation.ts";
import { startJudge } from "./judge-apart.ts";

/** What the browser may tell of a session's pages, bytes: a page can have it send very much. */
const maxBytes = 32 * 1024 * 1024;

const Attached = z.object({
  sessionId: z.string(),
  targetInfo: z.object({ targetId: z.string(), type: z.literal("page") }),
});

type SessionSeen = { target: string; verdict: Verdict };

/**
 * `ignored`: URLs of start pages. `isProxied`: sites are reached by a proxy, so nobody here knows their addresses.
 * `addressOf`: the address at which a browser behind a wall reached a host; left out, Chromium itself says it.
 * `exampleAddress`: for tests, an address that counts as public. `note`: called with each outcome that takes the place
 * of the one before.
 */
type ObserveOptions = {
  place: DevToolsPlace;
  ignored: readonly string[];
  isProxied: boolean;
  addressOf?: ((host: string) => string | undefined) | undefined;
  exampleAddress: string | undefined;
  note(seen: SessionSeen | undefined): void;
};

const isPublicAddress = (address: string): boolean => typeof targetOf(`http://${urlHost(address)}/`) !== "string";

const watchPages = async (cdp: CdpConnection): Promise<void> =>
  void (await cdp.send("Target.setAutoAttach", {
    autoAttach: true,
    // The holder's pages wait for nothing.
    waitForDebuggerOnStart: false,
    flatten: true,
    filter: [{ type: "page" }, { exclude: true }],
  }));

/**
 * Resolves when there is nothing more to see; `signal`: the session has ended. Rejects when Chromium can't be watched.
 */
export const followSessionOutcome = async (
  { place, ignored, isProxied, addressOf, exampleAddress, note }: ObserveOptions,
  signal: AbortSignal,
): Promise<void> => {
  await using cdp = await connectDevTools(place, { maxBytes });
  const { userAgent } = await cdp.send("Browser.getVersion", undefined);
  // Its rules are read before there is something to judge.
  await using judge = startJudge();
  const finder = createFirstNavigationFinder({ ignored, userAgent });
  const done = Promise.withResolvers<void>();
  let followed: FollowedNavigation | undefined;

  const isPublic = (seen: string | undefined, url: string): boolean => {
    const address = (addressOf ? addressOf(bareHost(URL.parse(url)?.hostname ?? "")) : seen) ?? "";
    return isProxied || address === exampleAddress || isPublicAddress(address);
  };

  const follow = (found: FirstNavigation): FollowedNavigation => {
    const { normalized } = found.target;
    return followNavigation(
      found,
      {
        cdp,
        judge: judge.judge,
        isPublic,
        note: (verdict) => note(verdict && { target: normalized, verdict }),
      },
      signal,
    );
  };
  const take = (event: CdpEvent): void => {
    const found = finder.take(event);
    if (found === "missed") done.resolve();
    else if (found) {
      followed = follow(found);
      void followed.over.then(done.resolve);
    }
    followed?.take(event);
  };
  const handle = (event: CdpEvent): void => {
    take(event);
    const attached = event.method === "Target.attachedToTarget" ? Attached.safeParse(event.params).data : undefined;
    if (!attached) return;
    const { sessionId, targetInfo } = attached;
    finder.addPage(sessionId, targetInfo.targetId);
    enableEvents(cdp, sessionId);
  };
  cdp.onEvent((event) => {
    try {
      handle(event);
    } catch {
      // A browser that does not keep to its protocol must not end the agent.
      done.resolve();
    }
  });
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await watchPages(cdp);
  await Promise.race([done.promise, ended, cdp.closed]);
};
