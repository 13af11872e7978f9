import { randomUUID } from "node:crypto";
import type { Config } from "../config.ts";
import { runOnDemandController, runPoolController } from "../controllers/browser-pool/controller.ts";
import { startNodes } from "../controllers/browser-pool/nodes.ts";
import { runVaultControllers } from "../controllers/run-vault-controllers.ts";
import { connectKube } from "../kube/client.ts";
import { type Lead, startLeaderElection } from "../kube/leader-election.ts";
import { createAgentClient } from "../leases/agent-client.ts";
import { checkRedis } from "../leases/check-redis.ts";
import { createDepartures } from "../leases/departures.ts";
import { createLeaseStore } from "../leases/lease-store.ts";
import { connectRedis, whenReady } from "../leases/redis.ts";
import { createRepairStore } from "../leases/repair-store.ts";
import { createSessionNames } from "../leases/session-names.ts";
import type { Logger } from "../log.ts";
import { loadSigningKey } from "../services/signing-key.ts";
import { ensureNamespace } from "../services/system-namespace.ts";
import { createAgentTokens } from "../tokens/agent-token.ts";

export type RunningOperator = { isLeader(): boolean; stop(): Promise<void> };

/** Below the lease's renew deadline, so that one slow call does not cost the lead, ms. */
const requestTimeoutMs = 5000;

const redisStartMs = 30_000;

/** How long a connection to an agent is kept, ms: the steps of one look. The next look comes a minute later. */
const agentKeepAliveMs = 4000;

/** The `Lease` object that the leading replica holds. */
export const leaderLease = ({ systemNamespace }: Config): { namespace: string; name: string } => ({
  namespace: systemNamespace,
  name: "browserpool-operator",
});

/** Starts the controllers; they work while this replica leads. `kubeconfigPath`: left out, the usual places. */
export const startOperator = async (
  { config, kubeconfigPath }: { config: Config; kubeconfigPath?: string },
  log: Logger,
): Promise<RunningOperator> => {
  const kube = connectKube({ requestTimeoutMs, ...(kubeconfigPath && { kubeconfigPath }) });
  await ensureNamespace(kube, config.systemNamespace);
  const { privateKey, publicKey } = await loadSigningKey({ kube, namespace: config.systemNamespace });
  const redis = connectRedis(config.redisUrl, log);
  await whenReady(redis, redisStartMs);
  await checkRedis(redis, log);
  const podSettings = {
    image: config.browserImage,
    agentPublicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
  };

  const store = createLeaseStore(redis);
  const stores = {
    store,
    repairs: createRepairStore(redis),
    departures: createDepartures(redis),
    names: createSessionNames(redis, store),
  };

  const work = async (lead: Lead): Promise<void> => {
    const subscriber = connectRedis(config.redisUrl, log);
    const agents = createAgentClient(createAgentTokens(privateKey), { keepAliveMs: agentKeepAliveMs });
    const nodes = startNodes({ kube, log });
    try {
      const deps = { kube, ...stores, nodes, agents, subscriber, podSettings, log };
      await Promise.all([
        runPoolController({ ...deps, limits: config.limits }, lead),
        runOnDemandController(deps, lead),
        runVaultControllers({ kube, log }, lead),
      ]);
    } finally {
      subscriber.disconnect();
      await Promise.all([agents.close(), nodes.stop()]);
    }
  };
  const election = startLeaderElection({
    kube,
    lease: leaderLease(config),
    identity: `${config.replica}-${randomUUID().slice(0, 8)}`,
    lead: work,
    log,
  });
  return {
    isLeader: election.isLeader,
    async stop() {
      await election.stop();
      redis.disconnect();
      await kube.close();
    },
  };
};
