/**
 * Policies that Chromium knows and a pool may not set, each with the reason. All names of the generated table were
 * judged when this list was made; with a new Chromium, judge those that its table adds. A pattern covers a family that
 * grows.
 */

/** Of what the service does itself. */
const service = (what: string): string => `the service manages ${what} itself`;

const cloud = "Chromium takes it from Google's cloud management only";
const programs = "it can start programs beside the browser";
const life = service("when a browser starts and ends");
const unread = "this Chromium does nothing with it";

const refused: readonly (readonly [why: string, ...names: (string | RegExp)[]])[] = [
  // Which extensions are installed, from where and with what rights; "3rdparty" configures installed extensions.
  [
    service("extensions"),
    /^Extension/,
    "BlockExternalExtensions",
    "MandatoryExtensionsForIncognitoNavigation",
    "3rdparty",
  ],
  [
    service("the proxy"),
    /^Proxy/,
    "AllowSocketPoolSizeRandomizationForProxies",
    "EnableProxyOverrideRulesForAllUsers",
    "MaxConnectionsPerProxy",
    "MaxConnectionsPerProxyForWebSocket",
    "WPADQuickCheckEnabled",
  ],
  // CDP, the agent and the gateway need these: such a policy could switch off debugging or forbid headless mode.
  [
    service("CDP and automation"),
    /^RemoteDebugging/,
    /^DeveloperTools/,
    "ChromeForTestingAllowed",
    "CommandLineFlagSecurityWarningsEnabled",
    "HeadlessMode",
  ],
  ["CDP can open no tab in a browser that is always a guest's", "BrowserGuestModeEnforced"],
  // Enrolment puts the browser under another party's policies, and the test page under the policies of its visitor.
  [
    service("where policies come from"),
    /^CloudManagementEnrollment/,
    /^CloudUserPolicy/,
    "CloudPolicyOverridesPlatformPolicy",
    "EnableExperimentalPolicies",
    "MaxInvalidationFetchDelay",
    "PolicyAtomicGroupsEnabled",
    "PolicyDictionaryMultipleSourceMergeList",
    "PolicyListMultipleSourceMergeList",
    "PolicyRefreshRate",
    "PolicyTestPageEnabled",
  ],
  [
    service("how names are resolved"),
    /^DnsOverHttps/,
    "AdditionalDnsQueryTypesEnabled",
    "BuiltInDnsClientEnabled",
    "DNSInterceptionChecksEnabled",
    "OutOfProcessSystemDnsResolutionEnabled",
  ],
  ["the service starts Chromium without QUIC", "QuicAllowed"],
  [
    service("sandboxes and the isolation of sites"),
    "AudioSandboxEnabled",
    "NetworkServiceSandboxEnabled",
    "OopPrintDriversAllowed",
    "SitePerProcess",
  ],
  [
    programs,
    /^AlternativeBrowser/,
    /^BrowserSwitcher/,
    "AutoLaunchProtocolsFromOrigins",
    "AutoOpenAllowedForURLs",
    "AutoOpenFileTypes",
    "DefaultBrowserSettingEnabled",
    "ExternalProtocolDialogShowAlwaysOpenCheckbox",
    "NativeMessagingAllowlist",
    "NativeMessagingUserLevelHosts",
    "SandboxExternalProtocolBlocked",
  ],
  ["it loads a library of the machine into the browser", "GSSAPILibraryName"],
  // A reset deletes what is in the browser's own folder.
  [
    service("where files are"),
    "DefaultDownloadDirectory",
    "DiskCacheDir",
    "DownloadDirectory",
    "RoamingProfileLocation",
    "RoamingProfileSupportEnabled",
  ],
  ["it opens files of the machine to pages", "PdfLocalFileAccessAllowedForDomains"],
  ["it uses printers of the machine without asking", "DefaultPrinterSelection", "SilentPrintingEnabled"],
  // In local mode the machine has its user's tickets.
  [
    "it gives pages what the machine's user is logged in with",
    "AmbientAuthenticationInPrivateModesEnabled",
    "AuthNegotiateDelegateAllowlist",
    "AuthNegotiateDelegateByKdcPolicy",
    "AuthServerAllowlist",
  ],
  [
    life,
    "BackgroundModeEnabled",
    "ComponentUpdatesEnabled",
    "IdleTimeout",
    "IdleTimeoutActions",
    "RelaunchFastIfOutdated",
    "RelaunchNotification",
    "RelaunchNotificationPeriod",
    "RelaunchWindow",
  ],
  ["start_url and profile say what a browser starts with", "RestoreOnStartup", "RestoreOnStartupURLs"],
  ["a profile could not be saved", "ForceEphemeralProfiles"],
  [
    "a browser here has no other one beside it to import from",
    "ImportAutofillFormData",
    "ImportBookmarks",
    "ImportHistory",
    "ImportHomepage",
    "ImportSavedPasswords",
    "ImportSearchEngine",
  ],
  ["stealth says whether pages have WebGL without a GPU", "EnableUnsafeSwiftShader"],
  ["gpu says whether a browser uses hardware", "HardwareAccelerationModeEnabled"],
  ["this Chromium crashes with it", "LegacyCookieScopeEnabled", "ProfileReauthPrompt"],
  [
    cloud,
    "BrowserContextAwareAccessSignalsAllowlist",
    "CacheEncryptionEnabled",
    "ChromeDataRegionSetting",
    "CloudExtensionRequestEnabled",
    "CloudProfileReportingEnabled",
    "CloudReportingEnabled",
    "CloudReportingUploadFrequency",
    "CopyPreventionSettings",
    "DataControlsRules",
    "EnterpriseCustomLabel",
    "EnterpriseLogoUrl",
    "EnterprisePublishedSkills",
    "EnterpriseRealTimeUrlCheckMode",
    "GenAiDefaultSettings",
    "IsolatedModeSettings",
    "LegacyTechReportAllowlist",
    /^On[A-Z]\w+EnterpriseConnector$/,
    "ProfileSeparationDataMigrationSettings",
    "ProfileSeparationSettings",
    /^ProvisionManagedClientCertificateFor/,
    /^Report\w+Data$/,
    /^SaasUsageReportingDomainUrls/,
    "SecuritySignalsClientCertificatesSelectors",
    "TabGroupSharingSettings",
    "UnmanagedDeviceSignalsConsentFlowEnabled",
    "UserContextAwareAccessSignalsAllowlist",
    "UserSecurityAuthenticatedReporting",
    "UserSecuritySignalsReporting",
    "WatermarkStyle",
  ],
  ["Chromium takes it as a recommendation only", "RegisteredProtocolHandlers"],
  ["it is for Chrome Remote Desktop, which browsers here don't have", /^RemoteAccessHost/],
  [
    unread,
    "AllowedDomainsForAppsList",
    "GeminiActOnWebSettings",
    "GeminiSparkSettings",
    "IncognitoModeUrlAllowlist",
    "IncognitoModeUrlBlocklist",
    "IsolateOriginsShortlist",
    "MediaRecommendationsEnabled",
    /^PrivacySandbox/,
    "SmartTabSharingSettings",
  ],
  ["it has another name now: BrowserSignin", "ForceBrowserSignin", "SigninAllowed"],
  ["it has another name now: IncognitoModeAvailability", "IncognitoEnabled"],
  ["it has another name now: OverrideSecurityRestrictionsOnInsecureOrigin", "UnsafelyTreatInsecureOriginAsSecure"],
];

/** Why a pool may not set this policy; undefined when it may. */
export const refusalOfPolicy = (name: string): string | undefined =>
  refused.find(([, ...names]) => names.some((one) => (typeof one === "string" ? one === name : one.test(name))))?.[0];

/** The names of the list that are no patterns. */
export const refusedPolicyNames: readonly string[] = refused.flatMap(([, ...names]) =>
  names.filter((one) => typeof one === "string"),
);
