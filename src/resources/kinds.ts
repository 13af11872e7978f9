import { authConnectionKind } from "./auth-connection.ts";
import { browserKind } from "./browser.ts";
import { browserPoolKind } from "./browser-pool.ts";
import { credentialKind } from "./credential.ts";
import { extensionKind } from "./extension.ts";
import type { AnyKind } from "./kind.ts";
import { profileKind } from "./profile.ts";
import { proxyKind } from "./proxy.ts";
import { siteAnalysisKind } from "./site-analysis.ts";
import { siteConfigKind } from "./site-config.ts";
import { siteEvidenceKind } from "./site-evidence.ts";
import { telemetryDestinationKind } from "./telemetry-destination.ts";
import { vaultKind } from "./vault.ts";
import { vaultItemKind } from "./vault-item.ts";

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
