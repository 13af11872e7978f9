/** The kinds that settings of pools and browsers refer to by id or name. A feature has each of them; what a reference needs is here. */

import type { wireName } from "../../../platform/kinds/identity.ts";
import { apiGroup } from "../../../platform/kinds/kind.ts";
import type { ResourceType } from "../../../platform/kube/resource-type.ts";

/** An object that can be referred to. */
export type Referable = Parameters<typeof wireName>[0];

const referable = (kind: string, plural: string): ResourceType<Referable> => ({
  ...apiGroup,
  kind,
  plural,
  namespaced: true,
});

/** The kinds by their names. */
export const referencedKinds = {
  Extension: referable("Extension", "extensions"),
  Profile: referable("Profile", "profiles"),
  Proxy: referable("Proxy", "proxies"),
  TelemetryDestination: referable("TelemetryDestination", "telemetrydestinations"),
  Vault: referable("Vault", "vaults"),
} as const;

/** The name of such a kind. */
export type ReferencedKind = keyof typeof referencedKinds;
