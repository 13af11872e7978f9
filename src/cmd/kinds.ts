import { browserKind } from "../core/model/browsers/browser.ts";
import { browserPoolKind } from "../core/model/pools/browser-pool.ts";
import { extensionKind } from "../features/extensions/extension.ts";
import { profileKind } from "../features/profiles/profile.ts";
import { proxyKind } from "../features/proxies/proxy.ts";
import { siteAnalysisKind } from "../features/sites/analyses/site-analysis.ts";
import { siteConfigKind } from "../features/sites/configs/site-config.ts";
import { siteEvidenceKind } from "../features/sites/site-evidence.ts";
import { telemetryDestinationKind } from "../features/telemetry/destinations/telemetry-destination.ts";
import { authConnectionKind } from "../features/vaults/connections/auth-connection.ts";
import { credentialKind } from "../features/vaults/credentials/credential.ts";
import { vaultItemKind } from "../features/vaults/items/vault-item.ts";
import { vaultKind } from "../features/vaults/vault.ts";
import type { AnyKind } from "../platform/kinds/kind.ts";

/** Every kind of the project, in the order in which their CRDs are installed. */
export const kinds: AnyKind[] = [
  browserPoolKind,
  browserKind,
  vaultKind,
  vaultItemKind,
  credentialKind,
  authConnectionKind,
  proxyKind,
  telemetryDestinationKind,
  profileKind,
  extensionKind,
  siteConfigKind,
  siteEvidenceKind,
  siteAnalysisKind,
];
