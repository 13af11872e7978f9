import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { AgentPlace, Called } from "../leases/agent/agent-call.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import { readSetup, SetupFailure } from "./read-setup.ts";
import type { Referents } from "./referents.ts";
import { missingOf, sendArchives } from "./send-archives.ts";
import type { SetupRequest, SetupRequests } from "./setup-requests.ts";

type Deps = {
  blobs: BlobStore;
  kube: Kube;
  log: Logger;
  policies: PolicyReader;
  referents: Referents;
  setupClient: SetupClient;
} & {
  setupRequests: SetupRequests;
};

/** Deliveries of this replica at once. Another replica takes more, or this one when the operator asks again. */
const atOnce = 8;

/** A claim is renewed this often, ms. */
const renewMs = 5000;

/** How long an agent may take to listen after its pod runs, ms, and the pause between two tries. */
const listenMs = 10_000;
const retryMs = 100;

type Deliveries = {
  /** Delivers the setup unless this replica is busy, or another one is at it. */
  take(request: SetupRequest): void;
  /** Resolves when all that have begun are over; takes no more. */
  stop(): Promise<void>;
};

const untilItListens = async <T extends object>(call: () => Promise<Called<T>>): Promise<Called<T>> => {
  const deadline = performance.now() + listenMs;
  for (;;) {
    const answer = await call();
    if (answer.kind !== "unreachable" || performance.now() > deadline) return answer;
    await sleep(retryMs);
  }
};

/** Gives browsers that wait what they need, for all replicas of the operator. */
export const createDeliveries = (deps: Deps): Deliveries => {
  const { setupRequests, setupClient, log } = deps;
  const running = new Set<Promise<void>>();
  let stopped = false;

  const deliver = async (request: SetupRequest): Promise<"delivered" | "outdated"> => {
    const read = await readSetup(request, deps);
    if (read === "outdated") return "outdated";
    const agent: AgentPlace = request;
    const missing = missingOf(await untilItListens(() => setupClient.sendSetup(agent, read.setup)));
    await sendArchives(agent, { missing, blobs: read.blobs }, deps);
    return "delivered";
  };

  const work = async (request: SetupRequest): Promise<void> => {
    const { browser, pod } = request;
    if (!(await setupRequests.claim(browser))) return;
    const renewal = setInterval(() => {
      setupRequests.report(browser, { is: "claimed" }).catch(() => undefined);
    }, renewMs);
    try {
      const is = await deliver(request);
      await setupRequests.report(browser, { is });
      log.info({ pod, is }, "a browser's setup");
    } catch (error) {
      const isTold = error instanceof SetupFailure || error instanceof AppError;
      const why = isTold ? error.message : "its setup could not be read";
      log.warn({ err: error, pod }, "a browser's setup could not be delivered");
      await setupRequests.report(browser, { is: "failed", why });
    } finally {
      clearInterval(renewal);
    }
  };
  return {
    take(request) {
      if (stopped || running.size >= atOnce) return;
      // What Redis does not take is asked for again.
      const one = work(request)
        .catch((err: unknown) => log.warn({ err, pod: request.pod }, "a browser's setup was not reported"))
        .finally(() => running.delete(one));
      running.add(one);
    },
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
};
