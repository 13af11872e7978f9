import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Splices = { port: number; [Symbol.asyncDispose](): Promise<void> };

/** The floor runs without Node's warnings and without the options of this process. */
const startSplice = async (targetPort: number): Promise<Splices> => {
  const program = join(import.meta.dirname, "splice-process.ts");
  const child = spawn(process.execPath, [program, "127.0.0.1", String(targetPort)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(([code]) => Promise.reject(new Error(`a relay ended with ${code}`))),
  ])) as [string];
  return {
    port: Number(line),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
};

/** Two bare relays in a row in front of a port of 127.0.0.1. */
export const startTwoSplices = async (targetPort: number): Promise<Splices> => {
  await using parts = new AsyncDisposableStack();
  const inner = parts.use(await startSplice(targetPort));
  const { port } = parts.use(await startSplice(inner.port));
  const kept = parts.move();
  return { port, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
