/** What one of our processes uses, from the kernel's accounting and the process's own metrics. */
import { readFile } from "node:fs/promises";

/** Clock ticks a second in `/proc/<pid>/stat`, on every Linux that Node runs on. */
const ticksPerSecond = 100;

export type Usage = {
  /** Since the process started. */
  cpuSeconds: number;
  residentBytes: number;
  /** Requests to the API server since the process started; a watch counts once. */
  kubeRequests: number;
};

const cpuSeconds = async (pid: number): Promise<number> => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

const residentBytes = async (pid: number): Promise<number> =>
  1024 * Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);

const kubeRequests = async (opsUrl: string): Promise<number> => {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^browserpool_kube_requests_total\{.*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  if (counts.length === 0) throw new Error(`no browserpool_kube_requests_total at ${opsUrl}/metrics`);
  return counts.reduce((sum, count) => sum + count, 0);
};

export const usageOf = async (pid: number, opsUrl: string): Promise<Usage> => ({
  cpuSeconds: await cpuSeconds(pid),
  residentBytes: await residentBytes(pid),
  kubeRequests: await kubeRequests(opsUrl),
});
