/** The chart's rights for the api and the operator, and the objects that it keeps in every project. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { embeddedObjects } from "../../scripts/chart/embedded-objects.ts";
import { root } from "../../scripts/generated-file.ts";
import type { ProjectObject } from "../../src/core/projects/project-objects.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { createResourceTypes } from "../../src/platform/kube/resource-type.ts";

export type Account = "browserpool-api" | "browserpool-operator";

/** The namespace for which the manifests are rendered. */
export const systemNamespace = "browserpool-system";

const manifests = readFileSync(join(root, "manifests/install.yaml"), "utf8");

const rights = /^(ServiceAccount|(Cluster)?Role(Binding)?|ValidatingAdmissionPolicy(Binding)?)$/;

/**
 * The objects of every project, without the labels of Pod Security, which does not apply to the processes of these
 * tests.
 */
export const projectObjects = (): ProjectObject[] => embeddedObjects(manifests).projectObjects;

/**
 * The image of browsers, which the admission policies know, and the security of the chart's pod template, which they
 * require.
 */
export const browserPods = (): {
  image: string;
  template: { spec: { securityContext: unknown; containers: object[] } };
} => {
  const [pod] = embeddedObjects(manifests).pods;
  const container = pod?.spec?.containers[0];
  if (!pod?.spec || !container?.image) throw new Error("the chart makes no browser");
  const { name, securityContext } = container;
  return {
    image: container.image,
    template: { spec: { securityContext: pod.spec.securityContext, containers: [{ name, securityContext }] } },
  };
};

/** Makes the two accounts with all their rights outside of projects, and the policies that restrict them. */
export const installRights = async (kube: Kube): Promise<void> => {
  const types = createResourceTypes(kube);
  const objects = parseAllDocuments(manifests).map((document) => document.toJS() as KubeObject | null);
  for (const object of objects)
    if (object && rights.test(object.kind ?? ""))
      await kube.apply(await types.of(object), object, { fieldManager: "test" });
};
