import { describe, expect, test } from "vitest";
import { joinPath } from "../../../platform/kinds/wire.ts";
import {
  type Referable,
  type ReferencedObjects,
  type Referring,
  referenceProblems,
  referencesOf,
  refersTo,
  resolveReferences,
} from "./references.ts";

const object = (id: string, name?: string, more: Partial<Referable["metadata"]> = {}): Referable => ({
  metadata: { name: id, uid: id, resourceVersion: "1", creationTimestamp: "2030-01-01T00:00:00Z", ...more },
  spec: { ...(name && { name }) },
});

const objects: ReferencedObjects = {
  Proxy: [object("px1", "office"), object("px2", "shared"), object("px3", "shared"), object("named-by-yaml")],
  Profile: [
    object("young", "work", { creationTimestamp: "2030-01-01T00:00:01Z" }),
    object("old", "work"),
    object("dying", "home", { deletionTimestamp: "2030-01-01T00:00:09Z" }),
  ],
  Extension: [object("ext1", "blocker"), object("ext2")],
  Vault: [object("v1")],
};

const problems = (settings: Referring): [string, string, string][] =>
  referenceProblems(referencesOf(settings), objects).map(({ path, is, message }) => [joinPath(path), is, message]);

const route = (proxy: { id?: string; name?: string }): Referring => ({
  network: { proxyRoutes: [{ hosts: ["a.test"], proxy }] },
});

describe("references", () => {
  // PROFILE-5, EXTENSION-4
  test("lead to ids, by id, by name and by the name of an object from YAML", () => {
    const settings: Referring = {
      profile: { name: "work" },
      proxyId: "px1",
      extensions: [{ id: "ext2" }, { name: "blocker" }],
      network: {
        proxyRoutes: [
          { hosts: ["a"], proxy: { name: "office" } },
          { hosts: ["b"], proxy: { name: "named-by-yaml" } },
        ],
      },
      vaults: [{ id: "v1" }],
    };
    expect(problems(settings)).toEqual([]);
    expect(resolveReferences(settings, objects)).toEqual({
      // Of two profiles with one name the older has it.
      profileId: "old",
      proxyId: "px1",
      extensionIds: ["ext2", "ext1"],
      routeProxyIds: ["px1", "named-by-yaml"],
    });
  });

  // HTTP-31
  test.each<[string, Referring, string]>([
    ["profile", { profile: { id: "work" } }, "no profile with id work in this project"],
    ["profile", { profile: { name: "home" } }, "no profile with name home in this project"],
    ["proxyId", { proxyId: "office" }, "no proxy with id office in this project"],
    ["extensions[1]", { extensions: [{ id: "ext1" }, { id: "ext3" }] }, "no extension with id ext3 in this project"],
    ["network.proxyRoutes[0].proxy", route({ id: "px9" }), "no proxy with id px9 in this project"],
    ["vaults[0].id", { vaults: [{ id: "v2" }] }, "no vault with id v2 in this project"],
    [
      "telemetry.export.otlp.destination",
      { telemetry: { export: { otlp: { destination: { name: "dest" } } } } },
      "no telemetry destination with name dest in this project",
    ],
  ])("at %s that find nothing are named: %j", (path, settings, message) => {
    expect(problems(settings)).toEqual([[path, "missing", message]]);
  });

  // PROXY-11
  test("by a name that several proxies have are ambiguous, and lead nowhere", () => {
    const settings = route({ name: "shared" });
    expect(problems(settings)).toEqual([
      ["network.proxyRoutes[0].proxy", "ambiguous", "several have the name shared (px2, px3): give the id"],
    ]);
    expect(resolveReferences(settings, objects).routeProxyIds).toEqual([undefined]);
    expect(problems(route({ id: "px2" }))).toEqual([]);
  });

  test("of other settings there are none", () => {
    expect(referencesOf({})).toEqual([]);
    expect(referencesOf({ network: { allowedHosts: ["a.test"] }, telemetry: { enabled: true } })).toEqual([]);
  });
});

// PROXY-12
test("settings refer to an object by its id and by its name", () => {
  const office = { kind: "Proxy" as const, object: object("px1", "office") };
  for (const settings of [{ proxyId: "px1" }, route({ id: "px1" }), route({ name: "office" })])
    expect(refersTo(settings, office)).toBe(true);
  for (const settings of [{ proxyId: "office" }, route({ name: "px1" }), { profile: { name: "office" } }])
    expect(refersTo(settings, office)).toBe(false);
});
