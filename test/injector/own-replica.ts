/** An API replica in this process beside that of local mode, whose parts may fail. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startApi } from "../../src/cmd/api.ts";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { readConfig } from "../../src/core/config/config.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { LocalProject } from "../support/stack.ts";

export type OwnReplica = AsyncDisposable & {
  url: string;
  /** Its parts as they are without faults. */
  whole: ServiceDeps;
  /**
   * Sends a request with the organization's key in the project, on parts of which some may fail; left out, on whole
   * ones.
   */
  fetch(path: string, init: RequestInit, parts?: ServiceDeps): Promise<Response>;
};

/** Redis, objects, blobs and keys are those of local mode. */
export const startOwnReplica = async ({
  redis_url,
  dataDir,
  kubeconfig,
  organization_key,
  project,
}: LocalProject): Promise<OwnReplica> => {
  const config = readConfig({
    REDIS_URL: redis_url,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_AUDIT_LOG: "/dev/null",
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_DEFAULT_PROJECT: "default",
    BROWSERPOOL_BLOBS: pathToFileURL(join(dataDir, "blobs")).href,
    BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "1000",
    BROWSERPOOL_FILL_RATE_CAP: "6000",
  });
  const api = await startApi({ config, kubeconfigPath: kubeconfig }, createLogger("silent", "test"));
  const whole = { ...api.services };
  return {
    url: api.url,
    whole,
    async fetch(path, init, parts = whole) {
      Object.assign(api.services, parts);
      try {
        const headers = {
          authorization: `Bearer ${organization_key}`,
          "x-kernel-project-id": project,
          ...init.headers,
        };
        return await fetch(api.url + path, { ...init, headers });
      } finally {
        Object.assign(api.services, whole);
      }
    },
    [Symbol.asyncDispose]: () => api.stop(),
  };
};
