/** WebDriver over HTTP for the holder of a browser: its call, and the end of its drivers with the lease. */
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import { sendCommand } from "../calls.ts";
import { createDrivers, type Drivers } from "./classic/drivers.ts";
import type { OpenDeps } from "./classic/open-session.ts";

type SessionDrivers = LeaseFollower & { handlers: readonly CallHandler[] } & Pick<Drivers, "bidiPrompts">;

type Held = { session: string; over: AbortController; drivers?: Drivers };

/** No lease yet. */
export const createSessionDrivers = (deps: Omit<OpenDeps, "session" | "signal">): SessionDrivers => {
  let held: Held | undefined;
  return {
    handlers: [
      callHandler(sendCommand, async ({ body, request }) => {
        if (!held) throw new CallRefused("not_found", "the session is over");
        const { session, over } = held;
        held.drivers ??= createDrivers({ ...deps, session, signal: over.signal });
        return { value: await held.drivers.run(body, () => !request.socket.destroyed) };
      }),
    ],
    bidiPrompts: () => held?.drivers?.bidiPrompts(),
    begin({ session_id }) {
      held = { session: session_id, over: new AbortController() };
    },
    end() {
      held?.over.abort();
      held = undefined;
    },
  };
};
