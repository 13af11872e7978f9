/** Namespaces in which others have pods, on a real API server: they are left alone until they are labelled. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { whyLeftAlone } from "../../../src/core/projects/adoption.ts";
import { checkProjectObjects } from "../../../src/core/projects/project-objects.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import {
  type KubeEvent,
  keyOf,
  type NewObject,
  type OwnerReference,
  type Pod,
} from "../../../src/platform/kube/objects.ts";
import { configMaps, createResourceTypes, events, namespaces, pods } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { opened, type RunningProjects, runProjects } from "../../support/project-controller.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
afterAll(() => kube.close());

const marker = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "marker" }, data: { from: "file" } };
const level = { apiVersion: "v1", kind: "Namespace", metadata: { labels: { level: "restricted" } } };

const startPod = (namespace: string, name: string, owner?: Partial<OwnerReference>): Promise<Pod> => {
  const ownerReferences = owner && {
    ownerReferences: [
      { apiVersion: "browserpool.dev/v1alpha1", kind: "BrowserPool", name: "p", uid: newId(), ...owner },
    ],
  };
  return kube.create(pods, {
    metadata: { namespace, name, ...ownerReferences },
    spec: { containers: [{ name: "c", image: "registry.invalid/x" }] },
  } as NewObject<Pod>);
};

const label = (namespace: string, labels: Record<string, string | null>) =>
  kube.patch(namespaces, { name: namespace }, { metadata: { labels } });

/** A namespace that is no project yet. */
const plainNamespace = async (): Promise<string> => {
  const { name } = await testNamespace(kube);
  await label(name, { "browserpool.dev/project": null });
  return name;
};

const run = (...documents: unknown[]): RunningProjects => runProjects(kube, documents);

const leftAlone = ({ gate }: RunningProjects, namespace: string) =>
  eventually("it is told why", () => /has other pods.*/.exec(gate.waitsFor(namespace) ?? "")?.[0]);

const untouched = async (namespace: string): Promise<void> => {
  expect(await kube.get(configMaps, { namespace, name: "marker" })).toBeUndefined();
  expect((await kube.get(namespaces, { name: namespace }))?.metadata.labels).not.toHaveProperty("level");
};

// PROJECT-11
describe("a namespace with pods of others", () => {
  test("is left alone when it is labelled a project, and says so until it is labelled to be adopted", async () => {
    const namespace = await plainNamespace();
    await startPod(namespace, "shop-1");
    await using running = run(level, marker);
    await label(namespace, { "browserpool.dev/project": "shop" });
    expect(await leftAlone(running, namespace)).toBe(
      "has other pods (such as shop-1), which the objects of a project would cut off: use a namespace of its own, or label this " +
        "one browserpool.dev/adopt=true",
    );
    const event = await eventually("there is an event about the namespace", async () => {
      const { items } = await kube.list<KubeEvent>(events, { namespace });
      return items.find(({ reason, regarding }) => reason === "ProjectNotAdopted" && regarding?.kind === "Namespace");
    });
    expect(event).toMatchObject({ type: "Warning", note: running.gate.waitsFor(namespace) });
    await untouched(namespace);

    await label(namespace, { "browserpool.dev/adopt": "yes" });
    await label(namespace, { note: "x" });
    await untouched(namespace);
    expect(running.gate.waitsFor(namespace)).toContain("browserpool.dev/adopt=true");

    await label(namespace, { "browserpool.dev/adopt": "true" });
    await opened(running, namespace);
    expect((await kube.get(configMaps, { namespace, name: "marker" }))?.data).toEqual({ from: "file" });
  });

  test.each<[string, Partial<OwnerReference> | undefined]>([
    ["no owner", undefined],
    ["an owner of ours that does not control them", { controller: false }],
    [
      "a controller of another group that sounds like ours",
      { controller: true, apiVersion: "browserpool.dev.example/v1" },
    ],
    ["another kind of controller", { controller: true, apiVersion: "apps/v1", kind: "ReplicaSet" }],
  ])("is left alone also when the pods have %s", async (_, owner) => {
    const namespace = await plainNamespace();
    await startPod(namespace, "browser", owner);
    const asked = { kube, types: createResourceTypes(kube), wanted: checkProjectObjects([marker], "objects.yaml") };
    const found = await kube.get(namespaces, { name: namespace });
    expect(found && (await whyLeftAlone(found, asked))).toMatch(/has other pods \(such as browser\)/);
  });

  test("does not become one by an object of the same name that another has made", async () => {
    const namespace = await plainNamespace();
    await startPod(namespace, "shop-1");
    await kube.apply(configMaps, { metadata: { namespace, name: "marker" } }, { fieldManager: "kubectl" });
    await label(namespace, { "browserpool.dev/project": "shop" });
    await using running = run(marker);
    await leftAlone(running, namespace);
    expect((await kube.get(configMaps, { namespace, name: "marker" }))?.data).toBeUndefined();
  });
});

// PROJECT-11
describe("a namespace becomes a project by one label", () => {
  test("when it has no pods", async () => {
    const namespace = await plainNamespace();
    await using running = run(level, marker);
    await label(namespace, { "browserpool.dev/project": "new" });
    await opened(running, namespace);
    expect(await kube.get(configMaps, { namespace, name: "marker" })).toBeDefined();
  });

  test("when its pods are browsers, as after an upgrade of an installation without such objects", async () => {
    const { name: namespace } = await testNamespace(kube);
    await startPod(namespace, "demo-a", { controller: true });
    await startPod(namespace, "demo-b", { controller: true, kind: "Browser" });
    await using running = run(marker);
    await opened(running, namespace);
  });

  test.each<[string, object[]]>([
    ["labels of the namespace", [level]],
    ["an object", [marker]],
    [
      "one of the objects; a kind of another is missing",
      [{ apiVersion: "x.example/v1", kind: "X", metadata: { name: "x" } }, marker],
    ],
  ])("and stays one, whatever pods come later; the next leader knows it by %s", async (_, documents) => {
    const { name: namespace } = await testNamespace(kube);
    {
      await using first = run(...documents.filter((document) => !("kind" in document && document.kind === "X")));
      await opened(first, namespace);
      await startPod(namespace, "late");
      await label(namespace, { changed: "1" });
    }
    const known = await kube.get(namespaces, { name: namespace });
    const asked = { kube, types: createResourceTypes(kube), wanted: checkProjectObjects(documents, "objects.yaml") };
    expect(known && keyOf(known.metadata)).toBe(namespace);
    expect(known && (await whyLeftAlone(known, asked))).toBeUndefined();
    const none = { ...asked, wanted: checkProjectObjects([], "objects.yaml") };
    // The pod would count if nothing of ours was there.
    if (documents[0] !== level) expect(known && (await whyLeftAlone(known, none))).toMatch(/such as late/);
  });
});
