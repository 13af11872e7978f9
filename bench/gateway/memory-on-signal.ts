/**
 * Preloaded into a process by `--import`, with `--expose-gc`. At every SIGUSR2 it collects garbage and writes the
 * remaining memory to stderr, as a log line with the message `memory <n>`, counted from 1.
 */
let count = 0;

const { gc } = globalThis as { gc?: NodeJS.GCFunction };

/** V8's collection for low memory. It also returns the memory that V8 keeps for new objects and does not use. */
const collect = (): void => void gc?.({ type: "major", execution: "sync", flavor: "last-resort" });

process.on("SIGUSR2", () => {
  // Twice, because the second run collects what the finalizers of the first released.
  collect();
  setImmediate(() => {
    collect();
    count += 1;
    process.stderr.write(`${JSON.stringify({ ...process.memoryUsage(), msg: `memory ${count}` })}\n`);
  });
});
