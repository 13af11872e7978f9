/** Rounds of one project, on a real API server: the pull secrets that the operator copies. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { reconcileProject } from "../../../src/core/projects/reconcile.ts";
import { createProjectGate } from "../../../src/core/reconcile/start-gate.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { createResourceTypes, namespaces, secrets } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";

const pullType = "kubernetes.io/dockerconfigjson";
const login = (password: string): Record<string, string> => ({
  ".dockerconfigjson": Buffer.from(JSON.stringify({ auths: { "registry.example": { password } } })).toString("base64"),
});

let kube: Kube;
let system: string;
let project: string;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
beforeEach(async () => {
  system = `system-${newId()}`;
  await kube.create(namespaces, { metadata: { name: system } });
  project = (await testNamespace(kube)).name;
});
afterAll(() => kube.close());

const source = { name: "registry" };
const makeSource = (password: string) =>
  kube.create(secrets, { metadata: { ...source, namespace: system }, type: pullType, data: login(password) });
const copy = () => kube.get(secrets, { ...source, namespace: project });

/** A round of this project alone: other tests have projects on the same server. */
const round = async ({ names = ["registry"] } = {}) => {
  const gate = createProjectGate();
  const namespace = await kube.get(namespaces, { name: project });
  const failure = await reconcileProject(project, {
    kube,
    projects: { get: () => namespace },
    types: createResourceTypes(kube),
    wanted: { namespaceLabels: {}, objects: [] },
    pullSecrets: { namespace: system, names },
    quotasFromMs: 0,
    gate,
    record: () => undefined,
    lead: { check: () => undefined },
    log: createLogger("silent", "test"),
  }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { failure, waitsFor: gate.waitsFor(project) };
};

test("a copy is there before browsers may start, and follows its source", async () => {
  await makeSource("first");
  expect(await round()).toEqual({ failure: undefined, waitsFor: undefined });
  expect(await copy()).toMatchObject({ type: pullType, data: login("first") });
  await kube.patch(secrets, { ...source, namespace: system }, { data: login("second") });
  await round();
  expect(await copy()).toMatchObject({ data: login("second") });
});

test("without its source no browser starts, and the reason says what is missing where", async () => {
  const { waitsFor } = await round();
  expect(waitsFor).toContain(`Secret registry: there is none in namespace ${system}`);
  await makeSource("late");
  expect(await round()).toEqual({ failure: undefined, waitsFor: undefined });
});

test("no other Secret is copied under that name, and none of its values is told", async () => {
  const data = { password: Buffer.from("hunter2").toString("base64") };
  await kube.create(secrets, { metadata: { ...source, namespace: system }, type: "Opaque", data });
  const { failure, waitsFor } = await round();
  expect(waitsFor).toContain("has the type Opaque, so it is no pull secret");
  expect(failure).not.toMatch(/hunter2|aHVudGVyMg/);
  expect(await copy()).toBeUndefined();
});

test("nothing is copied that nobody named", async () => {
  await makeSource("first");
  await round({ names: [] });
  expect(await copy()).toBeUndefined();
});

test("a deleted project loses its copy, and no other Secret", async () => {
  await makeSource("first");
  await kube.create(secrets, { metadata: { name: "other", namespace: project }, data: {} });
  await round();
  expect(await copy()).toBeDefined();
  const labels = { "browserpool.dev/project-status": "deleted" };
  await kube.patch(namespaces, { name: project }, { metadata: { labels } });
  await round();
  expect(await copy()).toBeUndefined();
  expect(await kube.get(secrets, { name: "other", namespace: project })).toBeDefined();
});
