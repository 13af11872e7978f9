/** The rights that an installation gives to the api and the operator, and what it keeps in every project: those of the chart. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { embeddedObjects } from "../../scripts/chart/embedded-objects.ts";
import { root } from "../../scripts/generated-file.ts";
import type { ProjectObject } from "../../src/controllers/project/project-objects.ts";
import type { Kube } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { createResourceTypes } from "../../src/kube/resource-types.ts";

export type Account = "browserpool-api" | "browserpool-operator";

/** Namespace that the manifests are rendered for. */
export const systemNamespace = "browserpool-system";

const manifests = readFileSync(join(root, "manifests/install.yaml"), "utf8");

const rights = /^(ServiceAccount|(Cluster)?Role(Binding)?|ValidatingAdmissionPolicy(Binding)?)$/;

/** What every project has; without the labels of Pod Security, which the processes of these tests know nothing of. */
export const projectObjects = (): ProjectObject[] => embeddedObjects(manifests).projectObjects;

/** Makes the two accounts with all they may do outside of projects, and the policies that hold them to it. */
export const installRights = async (kube: Kube): Promise<void> => {
  const types = createResourceTypes(kube);
  const objects = parseAllDocuments(manifests).map((document) => document.toJS() as KubeObject | null);
  for (const object of objects)
    if (object && rights.test(object.kind ?? ""))
      await kube.apply(await types.of(object), object, { fieldManager: "test" });
};
