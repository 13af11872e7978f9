/** The objects that the chart hands to the operator in files, as the operator makes them. */
import { parseAllDocuments, stringify } from "yaml";

type ConfigMap = { kind?: string; metadata?: { name?: string }; data?: Record<string, string> };

const documentsOf = (yaml: string): unknown[] => parseAllDocuments(yaml).map((document) => document.toJS() as unknown);

/** Of the pod of one browser, what the operator adds to the template. */
const agent = { name: "agent", image: "browser", args: ["agent"] };

type PodTemplate = {
  metadata?: object;
  spec: { containers: { name: string }[] } & Record<string, unknown>;
  regions?: Record<string, object>;
};

/** A pod from the template, and one for each of its regions. */
const podsOf = (yaml: string): object[] => {
  const [{ metadata, spec, regions = {} }] = documentsOf(yaml) as [PodTemplate];
  const containers = spec.containers.map((container) => ({ ...container, ...agent }));
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "browser" } };
  return [{}, ...Object.values(regions)].map((region) => ({ ...pod, spec: { ...spec, ...region, containers } }));
};

/** Of a project's objects each stands for itself, but for the labels of its namespace. */
const projectObjectsOf = (yaml: string): object[] =>
  (documentsOf(yaml) as { kind: string; metadata: object }[]).map((object) =>
    object.kind === "Namespace" ? { ...object, metadata: { ...object.metadata, name: "project" } } : object,
  );

/** The pods and project objects within the ConfigMaps of a rendered chart, as YAML. */
export const embeddedObjects = (rendered: string): string => {
  const data = Object.assign(
    {},
    ...(documentsOf(rendered) as (ConfigMap | null)[]).map((object) =>
      object?.kind === "ConfigMap" ? object.data : {},
    ),
  ) as Record<string, string>;
  const objects = [...podsOf(data["pod-template.yaml"] ?? ""), ...projectObjectsOf(data["project-objects.yaml"] ?? "")];
  return objects.map((object) => stringify(object)).join("---\n");
};
