/** The kinds that settings of pools and browsers refer to by id or name. */
import type { ResourceType } from "../kube/resource-type.ts";
import { extensionKind } from "./extension.ts";
import type { wireName } from "./identity.ts";
import { profileKind } from "./profile.ts";
import { proxyKind } from "./proxy.ts";
import { vaultKind } from "./vault.ts";

/** The name of such a kind, also of one that there is not yet. */
export type ReferencedKind = "Profile" | "Extension" | "Proxy" | "Vault" | "TelemetryDestination";

/** An object that can be referred to. */
export type Referable = Parameters<typeof wireName>[0];

/** The kinds that there are. A reference to another one finds nothing. */
export const referencedKinds: Partial<Record<ReferencedKind, ResourceType<Referable>>> = {
  Extension: extensionKind,
  Profile: profileKind,
  Proxy: proxyKind,
  Vault: vaultKind,
};
