import type { Kube } from "./client.ts";
import type { KubeObject } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";

/** Finds out where the kind of an object that was read from a file lives. */
export type ResourceTypes = {
  /** Asks the API server once for each kind. Throws a `KubeError`, and an `Error` for a kind that it does not have. */
  of(object: Pick<KubeObject, "apiVersion" | "kind">): Promise<ResourceType<KubeObject>>;
};

/** Knows nothing yet; what is asked for is kept for good, what is not found is not. */
export const createResourceTypes = (kube: Pick<Kube, "resources">): ResourceTypes => {
  const known = new Map<string, ResourceType<KubeObject>>();
  return {
    async of({ apiVersion = "", kind = "" }) {
      const name = `${apiVersion}/${kind}`;
      const cached = known.get(name);
      if (cached) return cached;
      // A subresource is listed as `plural/name`, some of them with the kind of what they belong to.
      const found = (await kube.resources(apiVersion)).find(
        (resource) => resource.kind === kind && !resource.name.includes("/"),
      );
      if (!found) throw new Error(`the API server has no kind ${kind} in ${apiVersion}`);
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      const type = { group, version, kind, plural: found.name, namespaced: found.namespaced };
      known.set(name, type);
      return type;
    },
  };
};
