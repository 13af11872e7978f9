import type { Kube } from "./client.ts";
import type { KubeObject } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";

/** Finds the resource type of an object that was read from a file, by API discovery. */
export type ResourceTypes = {
  /** Asks the API server once for each kind. Throws a `KubeError`, or an `Error` for a kind that the server does not have. */
  of(object: Pick<KubeObject, "apiVersion" | "kind">): Promise<ResourceType<KubeObject>>;
};

/** Starts with an empty cache. It keeps a found kind for good and asks again for one that it did not find. */
export const createResourceTypes = (kube: Pick<Kube, "resources">): ResourceTypes => {
  const known = new Map<string, ResourceType<KubeObject>>();
  return {
    async of({ apiVersion = "", kind = "" }) {
      const name = `${apiVersion}/${kind}`;
      const cached = known.get(name);
      if (cached) return cached;
      // Discovery lists a subresource as `plural/name`, sometimes with the kind of its parent.
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
