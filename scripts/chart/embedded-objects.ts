/**
 * The objects that the chart passes to the operator in files, built by the operator's own code. So what the operator
 * would refuse in a cluster is refused here.
 */
import { parseAllDocuments } from "yaml";
import { BrowserPoolSpec } from "../../src/core/model/pools/browser-pool.ts";
import { buildPod, type PodOwner } from "../../src/core/pools/pod/pod.ts";
import { checkPodTemplate } from "../../src/core/pools/pod/pod-template.ts";
import { checkProjectObjects, type ProjectObject } from "../../src/core/projects/project-objects.ts";
import type { NewObject, Pod } from "../../src/platform/kube/objects.ts";

type ConfigMap = { kind?: string; data?: Record<string, string> } | null;

type EmbeddedObjects = {
  /** One browser pod for each region. */
  pods: NewObject<Pod>[];
  /** The labels of a project's namespace and the objects in it, without a `namespace` field. */
  namespaceLabels: Record<string, string>;
  projectObjects: ProjectObject[];
};

const documentsOf = (yaml: string): unknown[] => parseAllDocuments(yaml).map((document) => document.toJS() as unknown);

const poolIn = (region: string): PodOwner => ({
  apiVersion: "browserpool.dev/v1alpha1",
  kind: "BrowserPool",
  metadata: { name: region, namespace: "project", uid: "00000000-0000-4000-8000-000000000000", resourceVersion: "1" },
  spec: BrowserPoolSpec.parse({ size: 1, region }),
});

/** The image of browsers that the chart gives the operator; `browser` where it has none. */
const imageIn = (rendered: string): string =>
  /name: BROWSERPOOL_BROWSER_IMAGE\s+value: "?([^"\s]+)/.exec(rendered)?.[1] ?? "browser";

const podsOf = (yaml: string, image: string): NewObject<Pod>[] => {
  const template = checkPodTemplate(documentsOf(yaml)[0], "pod-template.yaml");
  const settings = { image, agentPublicKey: "", template };
  return BrowserPoolSpec.shape.region.unwrap().options.map((region) => ({
    apiVersion: "v1",
    kind: "Pod",
    ...buildPod(poolIn(region), { suffix: "browser1" }, settings),
  }));
};

/**
 * Reads the objects in the ConfigMaps of a rendered chart. Throws an Error that names what the operator would refuse.
 */
export const embeddedObjects = (rendered: string): EmbeddedObjects => {
  const maps = (documentsOf(rendered) as ConfigMap[]).filter((object) => object?.kind === "ConfigMap");
  const data: Record<string, string> = Object.assign({}, ...maps.map((map) => map?.data));
  const file = "project-objects.yaml";
  const { namespaceLabels, objects } = checkProjectObjects(documentsOf(data[file] ?? ""), file);
  return { pods: podsOf(data["pod-template.yaml"] ?? "", imageIn(rendered)), namespaceLabels, projectObjects: objects };
};
