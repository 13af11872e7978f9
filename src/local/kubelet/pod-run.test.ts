import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import { createSemaphore } from "../../platform/base/semaphore.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { type PodRunOptions, startPodRun } from "./pod-run.ts";

const pod = {
  metadata: { name: "browser", namespace: "a", uid: "u" },
  spec: { containers: [{ name: "agent", image: "x" }] },
} as unknown as Pod;

/** Options of a node with one slot, at which no pod can be started. */
const failing = (why: string) => {
  const release = vi.fn();
  const options = {
    dataDir: "/nonexistent/local-kubelet",
    addresses: { take: async () => "127.99.0.1", release },
    starts: createSemaphore(1),
    readSecretValues: () => Promise.reject(new Error(why)),
    log: createLogger("silent", "test"),
    onChange: () => undefined,
  } as unknown as PodRunOptions;
  return { options, release };
};

test("a pod that can't be started ends with the reason, and gives back its slot and its address", async () => {
  const { options, release } = failing("there is no such Secret");
  for (let n = 1; n <= 3; n++) {
    const run = startPodRun(pod, options);
    await run.ended;
    expect(run.state()).toMatchObject({ phase: "ended", exitCode: 128, message: "there is no such Secret" });
    expect(release).toHaveBeenCalledTimes(n);
  }
});

test("a pod has ended when nothing of its folder is left", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "pod-run-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const folder = join(dataDir, "pods", pod.metadata.uid);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "left"), "by the browser");
  const { options } = failing("there is no such Secret");
  const states: [phase: string, isThere: boolean][] = [];
  const onChange = (): void => void states.push([run.state().phase, existsSync(folder)]);
  const run = startPodRun(pod, { ...options, dataDir, onChange });
  await run.ended;
  expect(states).toEqual([["ended", false]]);
});

test("a pod that is ended while it waits for a slot is never started", async () => {
  const { options, release } = failing("not reached");
  await options.starts.acquire(new AbortController().signal);
  const run = startPodRun(pod, options);
  run.end(1000);
  await run.ended;
  expect(run.state()).toMatchObject({ phase: "ended", message: "ended before its process was started" });
  expect(release).not.toHaveBeenCalled();
});
