/** The kinds that settings of pools and browsers refer to by id or name. */

import { extensionKind } from "../../../features/extensions/extension.ts";
import { profileKind } from "../../../features/profiles/profile.ts";
import { proxyKind } from "../../../features/proxies/proxy.ts";
import { telemetryDestinationKind } from "../../../features/telemetry/destinations/telemetry-destination.ts";
import { vaultKind } from "../../../features/vaults/vault.ts";
import type { wireName } from "../../../platform/kinds/identity.ts";
import type { ResourceType } from "../../../platform/kube/resource-type.ts";

/** The name of such a kind. */
export type ReferencedKind = "Profile" | "Extension" | "Proxy" | "Vault" | "TelemetryDestination";

/** An object that can be referred to. */
export type Referable = Parameters<typeof wireName>[0];

/** The kinds by their names. */
export const referencedKinds: Record<ReferencedKind, ResourceType<Referable>> = {
  Extension: extensionKind,
  Profile: profileKind,
  Proxy: proxyKind,
  TelemetryDestination: telemetryDestinationKind,
  Vault: vaultKind,
};
