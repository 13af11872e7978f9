/** Makes the tables of docs/permissions.md from the permissions and the routes (src/cmd/features.ts). */

import { routes as allRoutes } from "../src/cmd/features.ts";
import type { Route } from "../src/core/http/route.ts";
import { permissions } from "../src/core/model/permission.ts";
import { permissionTexts } from "../src/core/model/permission-texts.ts";
import { generateParts, table } from "./marked-part.ts";

const neededBy = ({ permission, furtherPermissions = [] }: Route): string =>
  permission === undefined
    ? "any key"
    : [`\`${permission}\``, ...furtherPermissions.map((each) => `\`${each.permission}\` when ${each.when}`)].join(
        ", and ",
      );

/** Writes the tables, or with `check` compares them. Returns what it wrote. Throws an Error when one is stale. */
export const generatePermissions = (options: { check: boolean }): Promise<string> => {
  const meanings = permissions.map((each) => [`\`${each}\``, permissionTexts[each]]);
  const routes = allRoutes.map((route) => [
    `\`${route.method.toUpperCase()} ${route.path}\``,
    `\`${route.operationId}\``,
    neededBy(route),
  ]);
  const parts = {
    permissions: table(["Permission", "Allows to"], meanings),
    routes: table(["Route", "Operation", "Needs"], routes),
  };
  return generateParts("docs/permissions.md", parts, options);
};
