/** What one of our processes uses, from the kernel's accounting and the process's own metrics. */
import { cpuSecondsOf, residentBytesOf } from "../process-time.ts";

export type Usage = {
  /** Since the process started. */
  cpuSeconds: number;
  residentBytes: number;
  /** Requests to the API server since the process started; a watch counts once. */
  kubeRequests: number;
};

const kubeRequests = async (opsUrl: string): Promise<number> => {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^browserpool_kube_requests_total\{.*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  if (counts.length === 0) throw new Error(`no browserpool_kube_requests_total at ${opsUrl}/metrics`);
  return counts.reduce((sum, count) => sum + count, 0);
};

export const usageOf = async (pid: number, opsUrl: string): Promise<Usage> => ({
  cpuSeconds: await cpuSecondsOf(pid),
  residentBytes: await residentBytesOf(pid),
  kubeRequests: await kubeRequests(opsUrl),
});
