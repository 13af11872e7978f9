import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchItem, type ItemPath } from "./fetch-item.ts";

/** Items of a connection can't be edited (ITEM-30): always throws, `not_found` or `conflict`. */
export const refuseItemEdit = async (path: ItemPath, project: Project, deps: { kube: Kube }): Promise<never> => {
  await fetchItem(path, project, deps);
  throw new AppError(
    "conflict",
    "this item can't be edited: its values are changed through the credential of its connection; for another connection or description, delete it and create a new one",
  );
};
