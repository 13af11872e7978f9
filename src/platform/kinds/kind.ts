/**
 * The descriptor of one kind of custom resource: the only source of the kind's TypeScript type, CRD (crd.ts) and wire
 * schema (wire.ts).
 */
import { z } from "zod";
import type { KubeObject, NamespacedObject } from "../kube/objects.ts";
import type { ResourceType } from "../kube/resource-type.ts";

// Finalizers of pools, browsers, vaults, credentials, connections and profiles. The HTTP API creates objects with them,
// and the operator adds them to objects from YAML. The operator removes them when the dependent objects are gone, so
// nothing relies on garbage collection.

/** On a vault until its items are gone. */
export const itemsFinalizer = "browserpool.dev/items";

/** On a credential or a connection until the Secret that belongs to it is gone. */
export const secretFinalizer = "browserpool.dev/secret";

/** On an object whose contents are in the store of blobs, until they are gone. */
export const blobsFinalizer = "browserpool.dev/blobs";

/** On a pool or an on-demand browser until its pods are gone. A pool gets it from the operator alone. */
export const drainFinalizer = "browserpool.dev/drain";

/** The API group and version of every kind of this project. */
export const apiGroup = { group: "browserpool.dev", version: "v1alpha1" } as const;

/**
 * One column of `kubectl get`; `kubectl` writes the name in capitals. `jsonPath` starts at the object, e.g.
 * `.spec.size`.
 */
type PrinterColumn = { name: string; type: "string" | "integer" | "date"; jsonPath: string };

/** The paths of the scale subresource's fields, e.g. `.spec.size`. */
type Scale = { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath: string };

/** An object of a kind as the API server returns it, with the defaults of the schema. */
export type CustomResource<Spec extends z.ZodType, Status extends z.ZodType> = NamespacedObject & {
  spec: z.output<Spec>;
  status?: z.output<Status>;
};

/** The same of a cluster-scoped kind. */
export type ClusterResource<Spec extends z.ZodType, Status extends z.ZodType> = KubeObject & {
  spec: z.output<Spec>;
  status?: z.output<Status>;
};

/**
 * `spec` and `status` use only the subset of zod that crd.ts allows. The client (platform/kube/client.ts) takes the
 * type of the objects from the kind. `T`: of a namespaced object, unless it is said otherwise.
 */
export type Kind<
  Spec extends z.ZodObject = z.ZodObject,
  Status extends z.ZodObject = z.ZodObject,
  T extends KubeObject = CustomResource<Spec, Status>,
> = ResourceType<T> & {
  shortNames: string[];
  /** Shown by `kubectl explain` for the kind itself. */
  description: string;
  spec: Spec;
  status: Status;
  printerColumns: PrinterColumn[];
  scale?: Scale;
};

/** A kind whose objects live in no namespace. */
export type ClusterKind<Spec extends z.ZodObject = z.ZodObject, Status extends z.ZodObject = z.ZodObject> = Kind<
  Spec,
  Status,
  ClusterResource<Spec, Status>
>;

/** A kind of either sort. */
export type AnyKind = Kind | ClusterKind;

/** A CEL rule over the value that it is attached to; the API server answers `message` when the rule is false. */
export type CelRule = { rule: string; message: string; fieldPath?: string };

/** The CEL rules of a schema. */
export const celRules = (schema: z.ZodType): CelRule[] =>
  (z.globalRegistry.get(schema)?.["x-kubernetes-validations"] as CelRule[] | undefined) ?? [];

/** Metadata that attaches CEL rules to a schema: `z.object({…}).meta(validations({rule, message}))`. */
export const validations = (...rules: CelRule[]): { "x-kubernetes-validations": CelRule[] } => ({
  "x-kubernetes-validations": rules,
});
