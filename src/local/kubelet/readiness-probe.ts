/**
 *   not ready ──(one good answer)──► ready ──(failureThreshold bad ones in a row)──► not ready …
 *
 * Until the first good answer it probes every 10 ms: a kubelet's whole seconds would be most of the time of a browser's
 * start.
 */
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "../../platform/kube/objects.ts";

const firstPeriodMs = 10;

type Probe = { host: string; port: number; path: string; periodMs: number; timeoutMs: number; failures: number };

type ReadinessProbe = { stop(): void };

type Container = NonNullable<Pod["spec"]>["containers"][number];

const portOf = (container: Container, port: unknown): number =>
  typeof port === "number" ? port : (container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port));

/** The probe of a container at `host`; undefined when it has none, and so is ready as soon as it runs. */
export const probeOf = (container: Container, host: string): Probe | undefined => {
  const { readinessProbe } = container;
  const httpGet = readinessProbe?.httpGet;
  if (!readinessProbe || !httpGet) return undefined;
  return {
    host,
    port: portOf(container, httpGet.port),
    path: httpGet.path ?? "/",
    periodMs: (readinessProbe.periodSeconds ?? 10) * 1000,
    timeoutMs: (readinessProbe.timeoutSeconds ?? 1) * 1000,
    failures: readinessProbe.failureThreshold ?? 3,
  };
};

const answersWell = ({ host, port, path, timeoutMs }: Probe, stopped: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
    const request = get({ host, port, path, agent: false, signal, headers: { connection: "close" } }, (response) => {
      const status = response.statusCode ?? 0;
      response.destroy();
      resolve(status >= 200 && status < 400);
    });
    request.on("error", () => resolve(false));
    request.once("close", () => resolve(false));
  });

/** Calls `onChange` with every change of readiness, which begins as false; never after `stop`. */
export const startReadinessProbe = (probe: Probe, onChange: (ready: boolean) => void): ReadinessProbe => {
  const stopping = new AbortController();
  let ready = false;
  let wasReady = false;
  let failures = 0;

  const take = (good: boolean): void => {
    failures = good ? 0 : failures + 1;
    if (good === ready || (!good && failures < probe.failures)) return;
    ready = good;
    wasReady = true;
    onChange(ready);
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const good = await answersWell(probe, stopping.signal);
      if (stopping.signal.aborted) return;
      take(good);
      const pauseMs = wasReady ? probe.periodMs : firstPeriodMs;
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  void run();
  return { stop: () => stopping.abort() };
};
