/**
 * An upgrade replaces the CRDs while users have objects. So every release leaves its objects in
 * releases/<version>.yaml, and what its operator has written of them in statuses/<version>.yaml. Today's CRDs must
 * accept each of them: served in its version, with no field refused, dropped or changed, and read by the schema as it
 * is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { kinds } from "../../src/cmd/features.ts";
import type { AnyKind } from "../../src/platform/kinds/kind.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { startTestControlPlane, type TestControlPlane } from "./start-control-plane.ts";

type Custom = KubeObject & { kind: string; spec: object };
type Written = KubeObject & { kind: string; status: object };

const folder = join(import.meta.dirname, "releases");
const files = readdirSync(folder).sort();
const documentsOf = <T>(path: string): T[] =>
  parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS() as T);
const objectsOf = (file: string): Custom[] => documentsOf(join(folder, file));
const statusesOf = (file: string): Written[] => documentsOf(join(import.meta.dirname, "statuses", file));

const kindOf = (name: string): AnyKind => kinds.find(({ kind }) => kind === name) ?? expect.fail(`no kind ${name}`);

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

test.each(files)("the CRDs accept the objects of %s and their statuses unchanged", async (file) => {
  const namespace = `release-${file.replace(/[^0-9]+/g, "-")}x`;
  await plane.kubectl("create", "namespace", namespace);
  await plane.kubectl("create", "-n", namespace, "--validate=strict", "-f", join(folder, file));
  const stored = async ({ apiVersion = "", kind, metadata }: Custom | Written): Promise<Custom & Written> => {
    const [group = "", version = ""] = apiVersion.split("/");
    const { plural, namespaced } = kindOf(kind);
    const place = namespaced ? `namespaces/${namespace}/${plural}` : plural;
    const path = `/apis/${group}/${version}/${place}/${metadata.name}`;
    return JSON.parse(await plane.kubectl("get", "--raw", path)) as Custom & Written;
  };
  for (const object of objectsOf(file)) {
    const { kind, metadata, spec } = object;
    const { spec: found } = await stored(object);
    expect(found, `${kind} ${metadata.name}`).toMatchObject(spec);
    // What is stored keeps its meaning when this version reads it.
    expect(kindOf(kind).spec.parse(found), `${kind} ${metadata.name}`).toEqual(found);
  }
  for (const written of statusesOf(file)) {
    const { kind, metadata, status } = written;
    const [what, patch] = [kindOf(kind).plural, JSON.stringify({ status })];
    const place = kindOf(kind).namespaced ? ["-n", namespace] : [];
    await plane.kubectl("patch", what, metadata.name, ...place, "--subresource=status", "--type=merge", "-p", patch);
    const { status: found } = await stored(written);
    expect(found, `${kind} ${metadata.name}`).toMatchObject(status);
    expect(kindOf(kind).status.parse(found), `${kind} ${metadata.name}`).toEqual(found);
  }
});

test("the newest release has objects of every kind, and statuses with every field", () => {
  const newest = files.at(-1) ?? "";
  const all = kinds.map(({ kind }) => kind).sort();
  expect([...new Set(objectsOf(newest).map(({ kind }) => kind))].sort()).toEqual(all);
  for (const kind of all) {
    const written = statusesOf(newest).filter((one) => one.kind === kind);
    const fields = new Set(written.flatMap(({ status }) => Object.keys(status)));
    expect([...fields].sort(), kind).toEqual(Object.keys(kindOf(kind).status.shape).sort());
  }
});
