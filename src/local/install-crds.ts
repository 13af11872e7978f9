import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import type { Kube } from "../kube/client.ts";
import type { KubeObject } from "../kube/objects.ts";
import { customResourceDefinitions } from "../kube/resource-type.ts";

const folder = new URL("../../crds/", import.meta.url);

/** How long the API server may take to serve a new kind, ms. */
const establishedWithinMs = 20_000;

type Crd = KubeObject & { status?: { conditions?: { type: string; status: string }[] } };

const isEstablished = (crd: Crd | undefined): boolean =>
  crd?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;

const waitEstablished = async (kube: Kube, name: string): Promise<void> => {
  const untilMs = performance.now() + establishedWithinMs;
  while (!isEstablished(await kube.get(customResourceDefinitions, { name }))) {
    if (performance.now() > untilMs)
      throw new Error(`the API server does not serve ${name} after ${establishedWithinMs / 1000} s`);
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
      await waitEstablished(kube, crd.metadata.name);
    }),
  );
};
