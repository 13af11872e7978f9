/**
 * ADR 0061, played on a real API server with every kind and the objects of the releases: v1beta1 beside v1alpha1, one
 * field with another name, storage in v1beta1, every object written anew, v1alpha1 gone. Nothing is lost on the way.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { kinds } from "../../src/cmd/features.ts";
import { crdOf } from "../../src/platform/kinds/crd.ts";
import { apiGroup } from "../../src/platform/kinds/kind.ts";
import type { CustomResourceDefinition, KubeObject, NewObject } from "../../src/platform/kube/objects.ts";
import { customResourceDefinitions } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { startTestControlPlane, type TestControlPlane } from "./start-control-plane.ts";

type Crd = NewObject<CustomResourceDefinition>;
type Version = Crd["spec"]["versions"][number];
type Fields = Record<string, Record<string, unknown>>;
type Custom = KubeObject & { spec: Record<string, unknown>; status?: object };

/** A share of the pool's size in percent, which its name does not say. */
const [oldName, newName] = ["fillRatePerMinute", "fillPercentPerMinute"] as const;

const namespace = "to-v1beta1";
const definitions = kinds.map((kind) => crdOf(kind) as Crd);
const pools = `browserpools.${apiGroup.group}`;

const specFieldsOf = ({ schema }: Version): Fields =>
  (schema?.openAPIV3Schema?.properties?.spec?.properties ?? expect.fail("a spec without fields")) as Fields;

/** The definition with other versions; `fields` changes the fields of a pool's spec. */
const withVersions = (crd: Crd, versions: Partial<Version>[], fields: (fields: Fields) => void): Crd => {
  const [only] = crd.spec.versions;
  const made = versions.map((version) => ({ ...structuredClone(only), ...version }) as Version);
  if (crd.metadata.name === pools) for (const version of made) fields(specFieldsOf(version));
  return { ...crd, spec: { ...crd.spec, versions: made, conversion: { strategy: "None" } } };
};

/** Both names, and no default: it would also be read of an object that has the other name. */
const bothNames = (fields: Fields): void => {
  const { default: _, ...field } = fields[oldName] ?? {};
  fields[oldName] = field;
  fields[newName] = { ...field };
};

const newNameOnly = (fields: Fields): void => {
  fields[newName] = fields[oldName] ?? {};
  delete fields[oldName];
};

/** The three releases of the ADR. */
const releases = {
  first: definitions.map((crd) => withVersions(crd, [{}, { name: "v1beta1", storage: false }], bothNames)),
  second: definitions.map((crd) =>
    withVersions(crd, [{ storage: false, deprecated: true }, { name: "v1beta1" }], bothNames),
  ),
  third: definitions.map((crd) => withVersions(crd, [{ name: "v1beta1" }], newNameOnly)),
};

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

const apply = (crds: Crd[]): Promise<unknown> =>
  Promise.all(crds.map((crd) => plane.kube.apply(customResourceDefinitions, crd, { fieldManager: "browserpool" })));

const storedVersions = async (): Promise<string[]> => {
  const { items } = await plane.kube.list(customResourceDefinitions);
  return [...new Set(items.flatMap(({ status }) => status?.storedVersions ?? []))];
};

/** What etcd has of our kinds, as it stands there. */
const inEtcd = async (): Promise<Custom[]> => {
  const socketPath = join(dirname(plane.kubeconfig), "run", "etcd:1");
  const [key, range_end] = ["/", "0"].map((end) => Buffer.from(`/registry/${apiGroup.group}${end}`).toString("base64"));
  const answer = await new Promise<string>((resolve, reject) => {
    const call = request({ socketPath, method: "POST", path: "/v3/kv/range" }, (response) => resolve(text(response)));
    call.on("error", reject).end(JSON.stringify({ key, range_end }));
  });
  const { kvs } = JSON.parse(answer) as { kvs: { value: string }[] };
  return kvs.map(({ value }) => JSON.parse(Buffer.from(value, "base64").toString()));
};
const versionsInEtcd = async (): Promise<(string | undefined)[]> => [
  ...new Set((await inEtcd()).map(({ apiVersion }) => apiVersion)),
];

/** All objects of ours in a version, by kind and name, without what each write changes. */
const objectsIn = async (version: string): Promise<Map<string, Custom>> => {
  const lists = kinds.map(async (kind) => {
    const { items } = await plane.kube.list<KubeObject>({ ...kind, version });
    return items.map((object): [string, Custom] => {
      const { apiVersion: _, metadata, ...kept } = object as Custom;
      const { name, namespace: place, uid, labels, annotations, finalizers, creationTimestamp } = metadata;
      const same = { name, namespace: place, uid, labels, annotations, finalizers, creationTimestamp };
      return [`${kind.kind}/${name}`, { ...kept, metadata: same as KubeObject["metadata"] }];
    });
  });
  return new Map((await Promise.all(lists)).flat());
};

/** The same objects after the change of the name. */
const afterRename = (objects: Map<string, Custom>): Map<string, Custom> =>
  new Map(
    [...objects].map(([key, object]) => {
      const { [oldName]: value, ...spec } = object.spec;
      return [key, value === undefined ? object : { ...object, spec: { ...spec, [newName]: value } }];
    }),
  );

const createReleased = async (): Promise<void> => {
  await plane.kubectl("create", "namespace", namespace);
  for (const folder of ["releases", "statuses"])
    for (const file of readdirSync(join(import.meta.dirname, folder))) {
      const path = join(import.meta.dirname, folder, file);
      if (folder === "releases") await plane.kubectl("create", "-n", namespace, "-f", path);
      else for (const document of readFileSync(path, "utf8").split(/^---$/m)) await writeStatus(parse(document));
    }
};

const writeStatus = async (written: (KubeObject & { kind: string; status: object }) | null): Promise<void> => {
  if (!written) return;
  const kind = kinds.find((one) => one.kind === written.kind) ?? expect.fail(written.kind);
  const ref = { name: written.metadata.name, ...(kind.namespaced && { namespace }) };
  await plane.kube.patch(kind, ref, { status: written.status }, { subresource: "status" });
};

/** Returns how many objects the script says that it has written. */
const rewrite = async (...args: string[]): Promise<number> => {
  const script = join(import.meta.dirname, "../../scripts/rewrite-stored.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--wait=0", ...args], {
    env: { KUBECONFIG: plane.kubeconfig },
    timeout: 60_000,
  });
  return [...stdout.matchAll(/^\S+: (\d+) objects written$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
};

const others = definitions.map(({ metadata }) => metadata.name).filter((name) => name !== pools);

const rewritePools = (): Promise<number> => rewrite(pools, `--rename=${oldName}=${newName}`);

/** Changes a pool as somebody does who knows v1alpha1 alone. */
const patchPool = (name: string, spec: object): Promise<string> => {
  const args = ["browserpools.v1alpha1.browserpool.dev", name, "-n", namespace, "--type=merge"];
  return plane.kubectl("patch", ...args, "-p", JSON.stringify({ spec }));
};

const isServed = (version: string): Promise<boolean> =>
  objectsIn(version).then(
    () => true,
    () => false,
  );

/** Resolves when the API server goes by these definitions: it takes a moment to serve a version, or not to. */
const applied = async (crds: Crd[]): Promise<void> => {
  await apply(crds);
  for (const version of ["v1alpha1", "v1beta1"]) {
    const isWanted = crds.every(({ spec }) => spec.versions.some(({ name }) => name === version));
    await eventually(
      `${version} is ${isWanted ? "served" : "gone"}`,
      async () => (await isServed(version)) === isWanted,
    );
  }
};

test("the objects of the releases go from v1alpha1 to v1beta1, and nothing of them is lost", async () => {
  await createReleased();
  const before = await objectsIn("v1alpha1");
  expect(new Set([...before.keys()].map((key) => key.split("/")[0])).size).toBe(kinds.length);

  // The first release serves both. Back to the one before it, and again: that one knows all that is stored.
  await applied(releases.first);
  expect(await objectsIn("v1beta1")).toEqual(before);
  expect(await versionsInEtcd()).toEqual([`${apiGroup.group}/v1alpha1`]);
  await applied(definitions);
  await applied(releases.first);

  // The second one stores in v1beta1, which the one before the first can't read: nobody goes back to that by mistake.
  await applied(releases.second);
  await expect(apply(definitions)).rejects.toThrow("status.storedVersions");
  const [, pool = ""] = [...before.keys()].find((key) => key.startsWith("BrowserPool/"))?.split("/") ?? [];
  const { discardIdle = null, [oldName]: rate } = before.get(`BrowserPool/${pool}`)?.spec ?? {};
  const whenStoredAnew = async (): Promise<void> => {
    await eventually("the API server stores in v1beta1", async () => {
      const token = `${performance.now()}`;
      await patchPool(pool, { discardIdle: token });
      const stored = (await inEtcd()).find(({ spec }) => spec.discardIdle === token);
      return stored?.apiVersion === `${apiGroup.group}/v1beta1`;
    });
    await patchPool(pool, { discardIdle });
  };
  await whenStoredAnew();

  // As long as one object may be stored in it, v1alpha1 stays.
  expect(await storedVersions()).toEqual(["v1alpha1", "v1beta1"]);
  await expect(apply(releases.third)).rejects.toThrow("status.storedVersions");
  expect((await rewritePools()) + (await rewrite(...others))).toBe(before.size);
  expect(await versionsInEtcd()).toEqual([`${apiGroup.group}/v1beta1`]);
  expect(await storedVersions()).toEqual(["v1beta1"]);
  const wanted = afterRename(before);
  expect(await objectsIn("v1alpha1")).toEqual(wanted);

  // Back to the first one, which reads what the second has stored, and again.
  await applied(releases.first);
  expect(await objectsIn("v1alpha1")).toEqual(wanted);
  await applied(releases.second);
  await whenStoredAnew();

  // Old YAML still counts, and the next round carries it over.
  await patchPool(pool, { [oldName]: 7 });
  await rewritePools();
  expect((await objectsIn("v1beta1")).get(`BrowserPool/${pool}`)?.spec).toMatchObject({ [newName]: 7 });
  await patchPool(pool, { [oldName]: rate });
  await rewritePools();
  await rewrite(...others);

  // The third one knows neither the old version nor the old name.
  await applied(releases.third);
  expect(await objectsIn("v1beta1")).toEqual(wanted);
  expect(wanted.get(`BrowserPool/${pool}`)?.spec).toMatchObject({ [newName]: rate });
});
