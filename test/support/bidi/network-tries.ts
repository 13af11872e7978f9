/** A try of each command of the network module. */
import { type Bench, outcomeOf } from "./bench.ts";

type Phase = "beforeRequestSent" | "responseStarted" | "authRequired";

/** Has the page fetch something that is stopped in this phase, and does `work` with the request. */
const withStopped = async (bench: Bench, phase: Phase, work: (request: string) => Promise<unknown>): Promise<void> => {
  const { send, context, evaluate, origin, event, events } = bench;
  const { intercept } = await send("network.addIntercept", { phases: [phase], contexts: [context] });
  const since = events.length;
  await evaluate(`void fetch("${origin}/${phase === "authRequired" ? "secret" : "tried"}").catch(() => undefined)`);
  const stopped = await event(`network.${phase}`, since, ({ isBlocked }) => isBlocked === true);
  try {
    await work((stopped.request as { request: string }).request);
  } finally {
    await send("network.removeIntercept", { intercept });
  }
};

const addCollector = ({ send, context }: Bench): Promise<{ collector: string }> =>
  send("network.addDataCollector", { dataTypes: ["response"], maxEncodedDataSize: 1e6, contexts: [context] });

/** Has the page fetch something that a collector keeps, and does `work` with the request and the collector. */
const withCollected = async (bench: Bench, work: (data: Record<string, string>) => Promise<unknown>): Promise<void> => {
  const { send, evaluate, origin, event, events } = bench;
  const { collector } = await addCollector(bench);
  const since = events.length;
  await evaluate(`void fetch("${origin}/tried")`);
  // What the page itself loads may still come to its end.
  const isMeant = ({ request }: Record<string, unknown>): boolean =>
    (request as { url: string }).url.endsWith("/tried");
  const done = await event("network.responseCompleted", since, isMeant);
  await work({ collector, dataType: "response", request: (done.request as { request: string }).request });
  await send("network.removeDataCollector", { collector });
};

/** Now and then the mapper has forgotten the request that waits for a password: then once more. */
const continueWithAuth = async (bench: Bench): Promise<void> => {
  const once = (): Promise<void> =>
    withStopped(bench, "authRequired", (request) =>
      bench.send("network.continueWithAuth", { request, action: "cancel" }),
    );
  for (let more = 12; more > 0; more--) {
    const outcome = await outcomeOf(once());
    if (outcome === "yes") return;
    if (outcome !== "no such request") break;
    await bench.reset();
  }
  await once();
};

/** By the name of the command. */
export const networkTries = {
  "network.addDataCollector": (bench: Bench) => withCollected(bench, async () => undefined),
  "network.addIntercept": (bench: Bench) =>
    withStopped(bench, "beforeRequestSent", (request) => bench.send("network.failRequest", { request })),
  "network.continueRequest": (bench: Bench) =>
    withStopped(bench, "beforeRequestSent", (request) => bench.send("network.continueRequest", { request })),
  "network.continueResponse": (bench: Bench) =>
    withStopped(bench, "responseStarted", (request) => bench.send("network.continueResponse", { request })),
  "network.continueWithAuth": continueWithAuth,
  "network.disownData": (bench: Bench) => withCollected(bench, (data) => bench.send("network.disownData", data)),
  "network.failRequest": (bench: Bench) =>
    withStopped(bench, "beforeRequestSent", (request) => bench.send("network.failRequest", { request })),
  "network.getData": (bench: Bench) => withCollected(bench, (data) => bench.send("network.getData", data)),
  "network.provideResponse": (bench: Bench) =>
    withStopped(bench, "beforeRequestSent", (request) =>
      bench.send("network.provideResponse", { request, statusCode: 204 }),
    ),
  "network.removeDataCollector": (bench: Bench) => withCollected(bench, async () => undefined),
  "network.removeIntercept": (bench: Bench) =>
    withStopped(bench, "beforeRequestSent", (request) => bench.send("network.failRequest", { request })),
  "network.setCacheBehavior": ({ send, context }: Bench) =>
    send("network.setCacheBehavior", { cacheBehavior: "bypass", contexts: [context] }),
  "network.setExtraHeaders": ({ send, context }: Bench) =>
    send("network.setExtraHeaders", { headers: [], contexts: [context] }),
};
