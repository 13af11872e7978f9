/** The calls by which a lease begins and ends, and by which the agent tells its state (core/protocol/agent-api.ts). */
import type { IncomingMessage } from "node:http";
import { type AgentState, BindLease, EndLease, Epoch } from "../protocol/agent-api.ts";
import { parseBody, type Routes } from "./agent-http.ts";
import { type AgentReply, refusal, refusals } from "./agent-reply.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { createStepTimes, type StepTimes } from "./step-times.ts";

/**
 * The largest body that is read. Most leases take a few hundred bytes; the longest request takes up to three bytes a
 * character.
 */
const maxBodyBytes = 512 * 1024;

const hasHungUp = ({ socket }: IncomingMessage): boolean => socket.destroyed || !socket.writable;

/** `browser`: what `GET /state` tells besides the lease. */
export const leaseRoutes = (
  leases: Pick<LeaseKeeper, "afterReset" | "bind" | "end" | "state" | "stateUnder">,
  browser: () => Pick<AgentState, "chromium" | "ended">,
): Routes => {
  const state = (times?: StepTimes): AgentReply => ({
    status: 200,
    body: { ...leases.state(), ...(times && { timings: times.told() }) },
  });
  return {
    "/state": {
      GET: async (request) => {
        const { searchParams } = URL.parse(request.url ?? "", "http://agent") ?? {};
        const epoch = Epoch.safeParse(searchParams?.get("epoch") ?? "0");
        if (!epoch.success) return refusal("bad_request", "epoch: a whole number");
        return { status: 200, body: { ...leases.stateUnder(epoch.data), ...browser() } };
      },
    },
    "/lease": {
      PUT: async (request) => {
        const read = await parseBody(request, BindLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const times = read.body.timings ? createStepTimes() : undefined;
        const outcome = await leases.bind(read.body, times);
        // The caller does not learn of this lease: it died, or it gave up and tries another browser.
        if (outcome === "bound" && hasHungUp(request)) await leases.end({ ...read.body, reuse: "reset" });
        return outcome === "bound" ? state(times) : refusals[outcome];
      },
      DELETE: async (request) => {
        const read = await parseBody(request, EndLease, { maxBytes: maxBodyBytes });
        if ("refused" in read) return read.refused;
        const outcome = await leases.end(read.body);
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    "/reset": {
      GET: async (request) => {
        const times = request.url?.endsWith("?timings=true") ? createStepTimes() : undefined;
        const outcome = await leases.afterReset(times);
        return outcome === "ended" ? state(times) : refusals[outcome];
      },
    },
  };
};
