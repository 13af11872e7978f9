import { contents } from "../../../src/cmd/features.ts";
import { startApiKeys } from "../../../src/core/api-keys/api-keys.ts";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { type Config, readConfig } from "../../../src/core/config/config.ts";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { ProjectContents } from "../../../src/core/projects/delete-project.ts";
import { startProjects } from "../../../src/core/projects/projects.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";

/** What one replica keeps of the organization. */
type Replica = {
  kube: Kube;
  config: Readonly<Config>;
  contents: readonly ProjectContents[];
  projects: ReturnType<typeof startProjects>;
  apiKeys: ReturnType<typeof startApiKeys>;
};

export type OrgParts = Replica & {
  /** Another replica of the same organization. `now`: its clock, ms since the epoch. */
  replica(now?: () => number): Promise<Replica>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * An organization of its own on the shared control plane: a system namespace and a default project. `settings`: further
 * ones.
 */
export const startOrg = async (settings: Record<string, string> = {}): Promise<OrgParts> => {
  const { kubeconfigPath, redisUrl } = await sharedServers();
  const kube = connectKube({ kubeconfigPath });
  const { projectId } = await testNamespace(kube);
  const config = readConfig({
    REDIS_URL: redisUrl,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_AUDIT_LOG: "/dev/null",
    BROWSERPOOL_SYSTEM_NAMESPACE: `system-${newId()}`,
    BROWSERPOOL_DEFAULT_PROJECT: projectId,
    ...settings,
  });
  await ensureNamespace(kube, config.systemNamespace);
  // The API server opens the storage of a custom resource at its first use, and refuses requests meanwhile.
  await eventually("pools can be listed", () => kube.list(browserPoolKind).catch(() => undefined));
  const log = createLogger("warn", "test");
  const started: Replica[] = [];
  const replica = async (now: () => number = Date.now): Promise<Replica> => {
    const projects = startProjects({ kube, log });
    const apiKeys = startApiKeys({ kube, namespace: config.systemNamespace, log, now });
    started.push({ kube, config, contents, projects, apiKeys });
    await Promise.all([projects.synced(), apiKeys.synced()]);
    return { kube, config, contents, projects, apiKeys };
  };
  return {
    ...(await replica()),
    replica,
    async [Symbol.asyncDispose]() {
      await Promise.all(started.flatMap(({ projects, apiKeys }) => [projects.stop(), apiKeys.stop()]));
      await kube.close();
    },
  };
};
