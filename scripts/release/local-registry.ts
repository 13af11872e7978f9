import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { freePort } from "../../src/local/free-port.ts";
import { cachedProgram } from "../run-program.ts";

/** A registry of this machine; disposing of it ends it. */
export type LocalRegistry = AsyncDisposable & {
  /** Its name in images: `localhost:<port>`, which docker, crane and cosign reach without TLS. */
  name: string;
  port: number;
};

/** Longest start, ms. */
const startMs = 30_000;

/** Time to end, ms. */
const endMs = 5000;

const answers = async (url: string): Promise<boolean> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  return response?.ok ?? false;
};

/** Starts it. `folder`: what it keeps; `host`: where it listens, loopback by default. */
export const startLocalRegistry = async (
  folder: string,
  { signal, host = "127.0.0.1" }: { signal: AbortSignal; host?: string },
): Promise<LocalRegistry> => {
  await mkdir(folder, { recursive: true });
  const port = (await freePort(host, 0)) ?? 0;
  const config = join(folder, "config.yaml");
  const storage = { filesystem: { rootdirectory: join(folder, "data") } };
  await writeFile(
    config,
    stringify({ version: 0.1, storage, http: { addr: `${host}:${port}` }, log: { level: "error" } }),
  );
  const env = { ...process.env, OTEL_TRACES_EXPORTER: "none" };
  const child = spawn(cachedProgram("registry"), ["serve", config], { stdio: "ignore", env });
  const exited = once(child, "exit");
  const registry: LocalRegistry = {
    name: `localhost:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      child.kill();
      await Promise.race([exited, sleep(endMs, undefined, { ref: false })]);
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    },
  };
  await using unfinished = new AsyncDisposableStack();
  unfinished.use(registry);
  for (const deadline = performance.now() + startMs; !(await answers(`http://${host}:${port}/v2/`)); ) {
    if (performance.now() > deadline || child.exitCode !== null) throw new Error("the local registry did not start");
    await sleep(100, undefined, { signal });
  }
  unfinished.move();
  return registry;
};
