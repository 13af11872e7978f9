/**
 * Given to a process by `--import`, with `--expose-gc`: at every SIGUSR2 it collects garbage and says on stderr what
 * memory is left, as a log line of the message `memory <n>`, counted from 1.
 */
let count = 0;

const { gc } = globalThis as { gc?: NodeJS.GCFunction };

/** As V8 does when memory runs out: it also gives back what it had kept for the next objects, which is not in use. */
const collect = (): void => void gc?.({ type: "major", execution: "sync", flavor: "last-resort" });

process.on("SIGUSR2", () => {
  // Twice: what finalizers of the first run let go of is collected by the second.
  collect();
  setImmediate(() => {
    collect();
    count += 1;
    process.stderr.write(`${JSON.stringify({ ...process.memoryUsage(), msg: `memory ${count}` })}\n`);
  });
});
