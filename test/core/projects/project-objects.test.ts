/**
 * An operator with project objects, on a real API server: what it keeps in projects, and what waits for these objects.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import type { KubeObject } from "../../../src/platform/kube/objects.ts";
import {
  configMaps,
  customResourceDefinitions,
  events,
  namespaces,
  type ResourceType,
} from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { opened, type RunningProjects, runProjects } from "../../support/project-controller.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
afterAll(() => kube.close());

const budgets: ResourceType<KubeObject & { spec?: { maxUnavailable?: number } }> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "leased" },
  spec: { maxUnavailable: 0, selector: { matchLabels: { leased: "true" } } },
};
const marker = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "marker" }, data: { from: "file" } };
const labels = { apiVersion: "v1", kind: "Namespace", metadata: { labels: { level: "restricted" } } };

const run = (...documents: unknown[]): RunningProjects => runProjects(kube, documents);

describe("the objects of projects", () => {
  test("are in every existing and every new project", async () => {
    const before = await testNamespace(kube);
    await using running = run(labels, budget, marker);
    const after = await testNamespace(kube);
    for (const { name: namespace } of [before, after]) {
      await opened(running, namespace);
      expect((await kube.get(budgets, { namespace, name: "leased" }))?.spec?.maxUnavailable).toBe(0);
      expect((await kube.get(configMaps, { namespace, name: "marker" }))?.data).toEqual({ from: "file" });
      expect((await kube.get(namespaces, { name: namespace }))?.metadata.labels).toMatchObject({ level: "restricted" });
    }
    expect(running.gate.waitsFor("default")).toMatch(/no project yet/);
    expect(await kube.get(configMaps, { namespace: "default", name: "marker" })).toBeUndefined();
  });

  test("are restored after changes by others, whose additional fields stay", async () => {
    // Fails by the wait for the values of the file.
    const { name: namespace } = await testNamespace(kube);
    await using running = run(labels, marker);
    await opened(running, namespace);
    await kube.patch(configMaps, { namespace, name: "marker" }, { data: { from: "somebody", theirs: "stays" } });
    await kube.patch(namespaces, { name: namespace }, { metadata: { labels: { level: "privileged" } } });
    await eventually("all is as the file says", async () => {
      const map = await kube.get(configMaps, { namespace, name: "marker" });
      const { metadata } = (await kube.get(namespaces, { name: namespace })) ?? {};
      return map?.data?.from === "file" && map.data.theirs === "stays" && metadata?.labels?.level === "restricted";
    });
  });

  test("that can't be applied are reported, keep the gate closed, and block no other object", async () => {
    const { name: namespace } = await testNamespace(kube);
    const unknown = { apiVersion: "policy/v1", kind: "NoSuchKind", metadata: { name: "x" } };
    const shared = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "x" } };
    await using running = run(unknown, shared, marker);
    await eventually("the last object is there", () => kube.get(configMaps, { namespace, name: "marker" }));
    const why = await eventually(
      "it is told why",
      () => /can't be applied: (.*)/.exec(running.gate.waitsFor(namespace) ?? "")?.[1],
    );
    expect(why).toMatch(/NoSuchKind x: the API server has no kind NoSuchKind in policy\/v1/);
    expect(why).toMatch(/PersistentVolume x: PersistentVolume lives in no namespace/);
    await eventually("there is an event about the namespace", async () => {
      const { items } = await kube.list<KubeObject & { reason?: string; note?: string; regarding?: { kind?: string } }>(
        events as ResourceType<KubeObject>,
        { namespace },
      );
      return items.some(
        ({ reason, note, regarding }) =>
          reason === "ProjectObjectsFailed" && note === why && regarding?.kind === "Namespace",
      );
    });
  });

  test("are applied once what they need exists", async () => {
    const { name: namespace } = await testNamespace(kube);
    const group = `g${namespace.replaceAll(/[^a-z0-9]/g, "")}.example.com`;
    await using running = run({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "thing" } });
    await eventually("it is told why", () => running.gate.waitsFor(namespace)?.includes("Thing thing"));
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await kube.create(customResourceDefinitions, {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await opened(running, namespace);
    const things = { group, version: "v1", kind: "Thing", plural: "things", namespaced: true };
    expect(await kube.get(things, { namespace, name: "thing" })).toBeDefined();
  });

  test("are dropped when their namespace is deleted, and its gate closes", async () => {
    // Fails by the wait for the gate.
    const { name: namespace } = await testNamespace(kube);
    await using running = run(marker);
    await opened(running, namespace);
    await kube.patch(namespaces, { name: namespace }, { metadata: { labels: { "browserpool.dev/project": null } } });
    await eventually("the gate is closed", () => running.gate.waitsFor(namespace)?.includes("no project"));
  });
});
