/**
 * What an archive of a profile leaves out: what Chromium makes anew, what belongs to one machine or one process, and
 * the open tabs. An archive that has such a path all the same is unpacked without it.
 */

/** Names in the user-data directory itself. */
const ofBrowser = new Set([
  "BrowserMetrics",
  "BrowserMetrics-spare.pma",
  "CertificateRevocation",
  "Crash Reports",
  "Crashpad",
  "CrashpadMetrics-active.pma",
  "CrashpadMetrics.pma",
  "Crowd Deny",
  "DevToolsActivePort",
  "FileTypePolicies",
  "GPUPersistentCache",
  "GrShaderCache",
  "GraphiteDawnCache",
  "MEIPreload",
  "NativeMessagingHosts",
  "OnDeviceHeadSuggestModel",
  "OptimizationGuideModelsManifest",
  "OptimizationHints",
  "OriginTrials",
  "PKIMetadata",
  "RecoveryImproved",
  "Safe Browsing",
  "SafetyTips",
  "ShaderCache",
  "SingletonCookie",
  "SingletonLock",
  "SingletonSocket",
  "Subresource Filter",
  "TrustTokenKeyCommitments",
  "WidevineCdm",
  "ZxcvbnData",
  "component_crx_cache",
  "extensions_crx_cache",
  "hyphen-data",
  "optimization_guide_model_store",
  "segmentation_platform",
]);

/** Names in the folder of a profile, e.g. `Default`. */
const ofProfile = new Set([
  "Cache",
  "Code Cache",
  "DawnCache",
  "DawnGraphiteCache",
  "DawnWebGPUCache",
  "Download Service",
  "GPUCache",
  "GrShaderCache",
  "Media Cache",
  "Segmentation Platform",
  // Tabs: Chromium would open the last holder's tabs. Cookies of a session are elsewhere, and stay.
  "Sessions",
  "Sessions_Encrypted",
  "ShaderCache",
  "VideoDecodeStats",
  "blob_storage",
  "optimization_guide_hint_cache_store",
  "optimization_guide_model_metadata_store",
]);

/** Files that Chromium writes before it renames them, in any folder. */
const isTemporary = (name: string): boolean => /^\.(org\.chromium\.|com\.google\.)|\.tmp$/.test(name);

/** Whether a path, relative to the user-data directory, is left out with all that is below it. */
export const isLeftOut = (path: string): boolean => {
  const [first = "", second = ""] = path.split("/");
  return ofBrowser.has(first) || ofProfile.has(second) || path.split("/").some(isTemporary);
};
