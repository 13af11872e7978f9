/** The kinds that settings of pools and browsers refer to by id or name. */
import type { ResourceType } from "../kube/resource-type.ts";
import { extensionKind } from "./extension.ts";
import type { wireName } from "./identity.ts";
import { profileKind } from "./profile.ts";
import { proxyKind } from "./proxy.ts";
import { telemetryDestinationKind } from "./telemetry-destination.ts";
import { vaultKind } from "./vault.ts";

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
