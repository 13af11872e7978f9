import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import type { Kube } from "../kube/client.ts";
import { isTransient } from "../kube/kube-error.ts";
import type { KubeObject } from "../kube/objects.ts";
import { customResourceDefinitions } from "../kube/resource-type.ts";

const folder = new URL("../../crds/", import.meta.url);

/** How long the API server may take to serve a new kind, ms. */
const establishedWithinMs = 20_000;

/**
 * For this time after a kind is established, ms, the API server delays each creation of an object: other API servers may not know
 * the kind yet.
 */
const heldBackMs = 2000;

type Crd = KubeObject & {
  spec: { group: string; names: { kind: string; plural: string }; versions: { name: string }[] };
  status?: { conditions?: { type: string; status: string; lastTransitionTime?: string }[] };
};

const isEstablished = (crd: Crd | undefined): boolean =>
  crd?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;

/** For a moment, the API server refuses an established kind with "storage is (re)initializing". */
const isServed = async (kube: Kube, { metadata, spec }: Crd): Promise<boolean> => {
  if (!isEstablished((await kube.get(customResourceDefinitions, metadata)) as Crd | undefined)) return false;
  const version = spec.versions[0]?.name ?? "";
  try {
    await kube.list({ group: spec.group, version, ...spec.names, namespaced: true });
    return true;
  } catch (error) {
    if (isTransient(error)) return false;
    throw error;
  }
};

const waitServed = async (kube: Kube, crd: Crd): Promise<void> => {
  const untilMs = performance.now() + establishedWithinMs;
  while (!(await isServed(kube, crd))) {
    if (performance.now() > untilMs)
      throw new Error(`the API server does not serve ${crd.metadata.name} after ${establishedWithinMs / 1000} s`);
    await sleep(50);
  }
};

/** Applies every CRD of `crds/`; resolves when the API server serves all of them. */
export const installCrds = async (kube: Kube): Promise<void> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
  await Promise.all(
    files.map(async (file) => {
      const crd = parse(await readFile(new URL(file, folder), "utf8")) as Crd;
      await kube.apply(customResourceDefinitions, crd, { fieldManager: "browserpool" });
      await waitServed(kube, crd);
    }),
  );
};

/**
 * Resolves when the API server no longer delays creations of the kinds of `crds/`: at once, except after their first installation.
 */
export const crdsSettled = async (kube: Kube): Promise<void> => {
  const { items } = await kube.list(customResourceDefinitions);
  const settledAtMs = (items as Crd[])
    .flatMap(({ status }) => status?.conditions ?? [])
    .filter(({ type }) => type === "Established")
    .map(({ lastTransitionTime = "" }) => Date.parse(lastTransitionTime) + heldBackMs);
  const waitMs = Math.max(0, ...settledAtMs) - Date.now();
  if (waitMs > 0) await sleep(Math.min(waitMs, heldBackMs));
};
