/**
 * Writes every object of a kind anew, so that the API server stores it in the version that the kind's definition names
 * (ADR 0061), and then says in the definition that no other version is stored. The last step before an old version of
 * the API leaves the definition.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { doubling, retry } from "../src/platform/base/retry.ts";
import { connectKube, type Kube } from "../src/platform/kube/client.ts";
import { hasReason, isTransient } from "../src/platform/kube/kube-error.ts";
import type { CustomResourceDefinition, KubeObject, Ref } from "../src/platform/kube/objects.ts";
import { customResourceDefinitions, type ResourceType } from "../src/platform/kube/resource-type.ts";

/** Old name of a field of the spec → its new one. */
type Renames = Readonly<Record<string, string>>;
type Stored = KubeObject & { spec: Record<string, unknown> };

const storageOf = ({ spec }: CustomResourceDefinition): string =>
  spec.versions.find(({ storage }) => storage)?.name ?? "";

const definitionOf = async (kube: Kube, name: string): Promise<CustomResourceDefinition> => {
  const definition = await kube.get(customResourceDefinitions, { name });
  if (!definition) throw new Error(`there is no definition ${name}`);
  return definition;
};

const renamed = (object: Stored, renames: Renames): Stored => {
  const spec = { ...object.spec };
  for (const [from, to] of Object.entries(renames)) {
    // While both are there the old one counts: who applies it knows no other.
    if (from in spec) spec[to] = spec[from];
    delete spec[from];
  }
  return { ...object, spec };
};

/** Returns false when the object is gone. The API server stores it anew also when only the version differs. */
const rewrite = async (
  kube: Kube,
  type: ResourceType<Stored>,
  { ref, renames }: { ref: Ref; renames: Renames },
): Promise<boolean> => {
  const work = async (): Promise<boolean> => {
    const object = await kube.get(type, ref);
    if (object) await kube.replace(type, renamed(object, renames));
    return object !== undefined;
  };
  return retry(work, {
    isCurable: (error) => isTransient(error) || ["Conflict", "NotFound"].some((reason) => hasReason(error, reason)),
    pauseMs: doubling(50, 2000),
    tries: 10,
  });
};

/**
 * Returns how many objects it wrote. Throws the API server's error for an object that it refuses, and when the
 * definition changes meanwhile: what was written stays, and the whole can be done again.
 */
const rewriteAll = async (kube: Kube, name: string, renames: Renames): Promise<number> => {
  const definition = await definitionOf(kube, name);
  const { spec } = definition;
  const version = storageOf(definition);
  const type: ResourceType<Stored> = {
    ...spec.names,
    group: spec.group,
    version,
    namespaced: spec.scope === "Namespaced",
  };
  let written = 0;
  for (const { metadata: ref } of (await kube.list(type)).items)
    if (await rewrite(kube, type, { ref, renames })) written += 1;
  const after = await definitionOf(kube, name);
  if (storageOf(after) !== version) throw new Error(`${name} got another version to store in meanwhile`);
  await kube.patch(
    customResourceDefinitions,
    { name },
    { metadata: { resourceVersion: after.metadata.resourceVersion }, status: { storedVersions: [version] } },
    { subresource: "status" },
  );
  return written;
};

const usage = `usage: rewrite-stored.ts [--wait SECONDS] [--rename OLD=NEW]… DEFINITION…

  DEFINITION   such as browserpools.browserpool.dev, in the cluster of kubectl's kubeconfig
  --wait       before it begins; 60 unless said: API servers learn one by one which version to store in
  --rename     a field of the spec that has another name from now on; of one definition alone`;

const readOptions = (): { names: string[]; waitMs: number; renames: Renames } => {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: { wait: { type: "string", default: "60" }, rename: { type: "string", multiple: true, default: [] } },
  });
  const pairs = values.rename.map((text) => text.split("="));
  const waitMs = Number(values.wait) * 1000;
  const isWrong = pairs.some((pair) => pair.length !== 2 || pair.includes("")) || !(waitMs >= 0);
  if (isWrong || names.length === 0 || (pairs.length > 0 && names.length > 1)) throw new Error(usage);
  return { names, waitMs, renames: Object.fromEntries(pairs) };
};

const { names, waitMs, renames } = readOptions();
const kube = connectKube();
try {
  await sleep(waitMs);
  for (const name of names) console.log(`${name}: ${await rewriteAll(kube, name, renames)} objects written`);
} finally {
  await kube.close();
}
