/**
 * An upgrade replaces the CRDs while users have objects. So every release leaves its objects in releases/<version>.yaml, and
 * today's CRDs must accept each of them: served in its version, with no field refused, dropped or changed, and read by the schema as it is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/kube/objects.ts";
import { kinds } from "../../src/resources/kinds.ts";
import { startTestControlPlane, type TestControlPlane } from "./start-control-plane.ts";

type Custom = KubeObject & { kind: string; spec: object };

const folder = join(import.meta.dirname, "releases");
const files = readdirSync(folder).sort();
const objectsOf = (file: string): Custom[] =>
  parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => document.toJS() as Custom);

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

test.each(files)("the CRDs accept the objects of %s unchanged", async (file) => {
  const namespace = `release-${file.replace(/[^0-9]+/g, "-")}x`;
  await plane.kubectl("create", "namespace", namespace);
  await plane.kubectl("create", "-n", namespace, "--validate=strict", "-f", join(folder, file));
  for (const { apiVersion = "", kind, metadata, spec } of objectsOf(file)) {
    const [group = "", version = ""] = apiVersion.split("/");
    const { plural = "", namespaced = true } = kinds.find((it) => it.kind === kind) ?? {};
    const place = namespaced ? `namespaces/${namespace}/${plural}` : plural;
    const path = `/apis/${group}/${version}/${place}/${metadata.name}`;
    const stored = JSON.parse(await plane.kubectl("get", "--raw", path)) as Custom;
    expect(stored.spec, `${kind} ${metadata.name}`).toMatchObject(spec);
    // What is stored keeps its meaning when this version reads it.
    expect(kinds.find((it) => it.kind === kind)?.spec.parse(stored.spec), `${kind} ${metadata.name}`).toEqual(
      stored.spec,
    );
  }
});

test("the newest release has objects of every kind", () => {
  const present = new Set(objectsOf(files.at(-1) ?? "").map(({ kind }) => kind));
  expect([...present].sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});
