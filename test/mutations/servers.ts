/**
 * The servers that tests of one copy of the tree share: etcd, kube-apiserver and Redis, started by the product without
 * mistakes. A start takes longer than many a test, so they serve one run after the other, as they serve all files of
 * `npm test`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyControlPlaneData } from "../support/control-plane-data.ts";
import { type GivenServers, makeControlPlaneData, startServers } from "../support/control-plane-setup.ts";

export type Servers = AsyncDisposable & {
  /** The environment by which a test run uses them. Starts them when they don't run. */
  environment(): Promise<Record<string, string>>;
  /** Ends them, when a run may have left them broken. */
  drop(): Promise<void>;
};

type ServerSource = AsyncDisposable & {
  /** Starts nothing yet. Disposing ends them. */
  servers(): Servers;
};

/** Where servers come from that begin with the same data, which is made when it is first needed. */
export const createServerSource = async (): Promise<ServerSource> => {
  const folder = await mkdtemp(join(tmpdir(), "bp-servers-"));
  let data: Promise<string> | undefined;
  let started = 0;
  const start = async (): Promise<
    Awaited<ReturnType<typeof startServers>> & { environment: Record<string, string> }
  > => {
    started += 1;
    const dataDir = join(folder, String(started));
    data ??= makeControlPlaneData(join(folder, "data"));
    const controlPlaneData = await data;
    await copyControlPlaneData(controlPlaneData, dataDir);
    const running = await startServers(dataDir);
    const given: GivenServers = { servers: running.servers, controlPlaneData };
    return {
      ...running,
      environment: { TEST_SERVERS: JSON.stringify(given) },
      async stop() {
        await running.stop();
        await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
      },
    };
  };
  return {
    servers() {
      let running: ReturnType<typeof start> | undefined;
      const drop = async (): Promise<void> => {
        const ending = running;
        running = undefined;
        await ending?.then(({ stop }) => stop()).catch(() => undefined);
      };
      return {
        async environment() {
          running ??= start();
          return (await running).environment;
        },
        drop,
        [Symbol.asyncDispose]: drop,
      };
    },
    async [Symbol.asyncDispose]() {
      await data?.catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
};
