/**
 * The round of a project, with each of its calls failing in turn: browsers may start in it when all its objects are
 * there, and not before.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkProjectObjects } from "../../src/core/projects/project-objects.ts";
import { reconcileProject } from "../../src/core/projects/reconcile.ts";
import { createProjectGate, type ProjectGate } from "../../src/core/reconcile/start-gate.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import type { Namespace, NewObject, Pod } from "../../src/platform/kube/objects.ts";
import { configMaps, createResourceTypes, namespaces, pods } from "../../src/platform/kube/resource-type.ts";
import type { Requeue } from "../../src/platform/kube/work-queue.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";
import { untilRest } from "./rounds.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
afterAll(() => kube?.close());

const marker = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { from: "file" } });
const labels = { apiVersion: "v1", kind: "Namespace", metadata: { labels: { level: "restricted" } } };
const wanted = checkProjectObjects([labels, marker("one"), marker("two")], "objects.yaml");

type Project = {
  /** Undefined once it is no project any more. */
  namespace: Namespace | undefined;
  name: string;
  gate: ProjectGate;
  /** What the gate said after each change; "open" for an open one. */
  said: string[];
  told: string[];
};

const project = async (): Promise<Project> => {
  const { name } = await testNamespace(kube);
  const namespace = await kube.get(namespaces, { name });
  const gate = createProjectGate();
  const said: string[] = [];
  gate.onChange(() => said.push(gate.waitsFor(name) ?? "open"));
  return { namespace, name, gate, said, told: [] };
};

const round = (one: Project, parts: { kube: Kube } = { kube }): Promise<Requeue | undefined> =>
  reconcileProject(one.name, {
    kube: parts.kube,
    projects: { get: () => one.namespace },
    types: createResourceTypes(parts.kube),
    wanted,
    quotasFromMs: 0,
    gate: one.gate,
    record: ({ reason }) => one.told.push(reason),
    lead: { check: () => undefined },
    log: createLogger("silent", "test"),
  });

const rest = (one: Project, ended: Parameters<typeof untilRest>[1]["ended"]): Promise<void> =>
  untilRest({ round: () => round(one), version: async () => "same" }, { before: "same", ended });

/**
 * Of the objects that are wanted, those that are there: operators of other tests may put theirs into every project's
 * namespace.
 */
const objectsIn = async ({ name }: Project): Promise<string[]> => {
  const { items } = await kube.list(configMaps, { namespace: name });
  const level = (await kube.get(namespaces, { name }))?.metadata.labels?.level;
  const names = items.map(({ metadata }) => metadata.name).filter((name) => name === "one" || name === "two");
  return [...names, ...(level ? [level] : [])].sort();
};

const all = ["one", "restricted", "two"];

test.each(["new", "open"])(
  "%s: it is closed while an object can't be applied, says so, and opens when all are there",
  async (before) => {
    const calls = await tryEveryFaultOfRounds({
      parts: { kube },
      failures: operatorFailures,
      async prepare() {
        const one = await project();
        if (before === "open") one.gate.open(one.name);
        return one;
      },
      work: (one, parts) => round(one, parts),
      async check(one, ended, { name }) {
        expect(one.gate.waitsFor(one.name) === undefined).toBe("result" in ended);
        if ("result" in ended) expect(await objectsIn(one)).toEqual(all);
        const isTold = "error" in ended && (name === "kube.apply" || before === "open");
        expect([one.gate.waitsFor(one.name)?.includes("can't be applied") ?? false, one.told]).toEqual([
          isTold,
          isTold ? ["ProjectObjectsFailed"] : [],
        ]);
        await rest(one, ended);
        expect(one.said.at(-1)).toBe("open");
        expect(await objectsIn(one)).toEqual(all);
      },
    });
    expect(calls.filter((call) => call === "kube.apply")).toHaveLength(3);
  },
);

// PROJECT-11
test("a namespace in which others have pods is not touched, whatever fails", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: { kube },
    failures: operatorFailures,
    async prepare() {
      const one = await project();
      const metadata = { namespace: one.name, name: "shop-1" };
      const spec = { containers: [{ name: "c", image: "registry.invalid/x" }] };
      await kube.create(pods, { metadata, spec } as NewObject<Pod>);
      return one;
    },
    work: (one, parts) => round(one, parts),
    async check(one, ended) {
      await rest(one, ended);
      expect(one.said).toEqual([expect.stringContaining("has other pods (such as shop-1)")]);
      expect(one.told).toEqual(["ProjectNotAdopted"]);
      expect(await objectsIn(one)).toEqual([]);
    },
  });
  expect(calls).toContain("kube.list");
});

test("a project that is removed while its objects are applied does not open, whatever fails", () =>
  tryEveryFaultOfRounds({
    parts: { kube },
    failures: operatorFailures,
    prepare: project,
    work: (one, parts) =>
      round(one, {
        kube: {
          ...parts.kube,
          async apply(type, object, options) {
            await parts.kube.apply(type, object, options).finally(() => {
              one.namespace = undefined;
              one.gate.close(one.name);
            });
          },
        },
      }),
    async check(one, ended) {
      // Before the first write it is still a project, and has the round that follows a failure.
      if ("error" in ended && one.namespace) return;
      expect(ended).toEqual({ result: undefined });
      expect(one.said).not.toContain("open");
      await rest(one, ended);
      expect([one.said, one.told]).toEqual([[], []]);
    },
  }).then((calls) => expect(calls).toContain("kube.apply")));
