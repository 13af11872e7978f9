import type { KeyObject } from "node:crypto";
import type { ApiKeys } from "../core/api-keys/api-keys.ts";
import type { Config } from "../core/config/config.ts";
import type { AbandonedSessions } from "../core/leases/abandoned-sessions.ts";
import type { AgentClient } from "../core/leases/agent/agent-client.ts";
import type { AgentExchanges } from "../core/leases/agent/agent-exchange.ts";
import type { AgentStreams } from "../core/leases/agent/agent-stream.ts";
import type { SetupClient } from "../core/leases/agent/setup-client.ts";
import type { EndedLeases } from "../core/leases/ended-leases.ts";
import type { Grants } from "../core/leases/grants.ts";
import type { LeasePages } from "../core/leases/lease-pages.ts";
import type { LeaseStore } from "../core/leases/lease-store.ts";
import type { NamesComplete } from "../core/leases/names-in-use.ts";
import type { ReturningBrowsers } from "../core/leases/returning-browsers.ts";
import type { ApiMetrics } from "../core/metrics/api-metrics.ts";
import type { Browser } from "../core/model/browsers/browser.ts";
import type { ReportOf } from "../core/model/browsers/on-demand-pool.ts";
import type { BrowserPool } from "../core/model/pools/browser-pool.ts";
import type { WatchedObjects } from "../core/objects/watched-objects.ts";
import type { PolicyReader } from "../core/policies/policy-reader.ts";
import type { CallerLimits } from "../core/projects/caller-limits.ts";
import type { ProjectContents } from "../core/projects/delete-project.ts";
import type { OrganizationUse } from "../core/projects/organization-limits.ts";
import type { Projects } from "../core/projects/projects.ts";
import type { AgentKeys } from "../core/protocol/agent-key.ts";
import type { AgentTokens } from "../core/protocol/agent-token.ts";
import type { SessionNames } from "../core/reservations/session-names.ts";
import type { SessionRoom } from "../core/reservations/session-room.ts";
import type { AbandonedBrowsers } from "../core/sessions/abandoned-browsers.ts";
import type { SessionProfile } from "../core/sessions/session-answer.ts";
import type { Referents } from "../core/setups/referents.ts";
import type { ConsoleCodes } from "../features/console/console-codes.ts";
import type { EventFeeds } from "../features/events/feeds.ts";
import type { KeptFileParts } from "../features/files/stored-files.ts";
import type { ProxyChecks } from "../features/proxies/proxy-checks.ts";
import type { ProxyProvider } from "../features/proxies/rules/proxy-provider.ts";
import type { RecordingParts } from "../features/recordings/recordings.ts";
import type { SiteAnalysis } from "../features/sites/analyses/site-analysis.ts";
import type { AnalysisSettings } from "../features/sites/rules/analysis-settings.ts";
import type { SiteIndex } from "../features/sites/site-index.ts";
import type { SiteReports } from "../features/sites/site-reports.ts";
import type { ExportResults } from "../features/telemetry/export-state.ts";
import type { TelemetryParts } from "../features/telemetry/telemetry-store.ts";
import type { ItemEvents } from "../features/vaults/items/item-events.ts";
import type { OwnLogins } from "../features/vaults/own-logins/own-logins.ts";
import type { ProviderLookups } from "../features/vaults/providers/lookups.ts";
import type { NetworkFilter } from "../platform/addresses/network-filter.ts";
import type { AuditLineStore } from "../platform/audit/audit-line-store.ts";
import type { Logger } from "../platform/base/log.ts";
import type { BlobStore } from "../platform/blobs/blob-store.ts";
import type { Kube } from "../platform/kube/client.ts";
import type { Reflector } from "../platform/kube/reflector.ts";
import type { Locks } from "../platform/redis/locks.ts";
import type { SecretsKeys } from "../platform/secrets/sealing.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";

/** The dependencies of the use cases. A command builds them once; each use case names the part that it needs. */
export type ServiceDeps = {
  config: Config;
  kube: Kube;
  /**
   * All pools of the organization. The copy may be a moment behind, so use it only for facts that are checked elsewhere
   * too.
   */
  pools: WatchedObjects<BrowserPool>;
  /** All on-demand browsers of the organization, also those that ended within the last day. */
  browsers: WatchedObjects<Browser>;
  /** What the config registry knows. */
  sites: SiteIndex;
  /** All analyses of sites. The copy may be a moment behind. */
  analyses: Reflector<SiteAnalysis>;
  /** The namespace whose browsers are trials of sites; they run on capacity of their own. Undefined: there is none. */
  setAside: string | undefined;
  /** How sites are analyzed; undefined: none is. */
  analysisSettings: AnalysisSettings | undefined;
  /** Chrome policies that are kept outside their pools. */
  policies: PolicyReader;
  /** Counts objects of features. */
  organizationUse(): Promise<OrganizationUse>;
  /** The objects that an empty project has none of. */
  contents: readonly ProjectContents[];
  projects: Projects;
  apiKeys: ApiKeys;
  callerLimits: CallerLimits;
  consoleCodes: ConsoleCodes;
  store: LeaseStore;
  leasePages: LeasePages;
  endedLeases: EndedLeases;
  agents: AgentClient;
  grants: Grants;
  abandonedSessions: AbandonedSessions;
  abandonedBrowsers: AbandonedBrowsers;
  returningBrowsers: ReturningBrowsers;
  reportOf: ReportOf;
  /** Where sessions report what they reach. */
  siteReports: SiteReports;
  setupClient: SetupClient;
  agentStreams: AgentStreams;
  agentExchanges: AgentExchanges;
  names: SessionNames;
  namesComplete: NamesComplete;
  locks: Locks;
  sessionRoom: SessionRoom;
  itemEvents: ItemEvents;
  /** The logins that the service does itself. */
  ownLogins: OwnLogins;
  /** Recent audit lines, for people. */
  auditLines: AuditLineStore;
  /** What becomes of the objects of projects, for those that have readers here. */
  events: EventFeeds;
  /** What came of the requests to telemetry destinations. */
  exportResults: ExportResults;
  telemetry: TelemetryParts;
  recordings: RecordingParts;
  keptFiles: KeptFileParts;
  /** The contents of profiles and extensions. */
  blobs: BlobStore;
  /** Encrypt the contents of the Secrets of credentials, proxies and telemetry destinations. */
  secretsKeys: SecretsKeys;
  /** The gateways of the installation's provider of proxies. */
  proxyProvider: ProxyProvider;
  proxyChecks: ProxyChecks;
  /** Logins in stores outside of the service. */
  providerLookups: ProviderLookups;
  referents: Referents;
  sessionProfile: SessionProfile;
  /** Of the endpoints of telemetry destinations. */
  destinationFilter: NetworkFilter;
  /** Signs sessions' tokens (src/core/protocol/session-token.ts). */
  signingKey: KeyObject;
  /** The public half of `signingKey`. */
  verifyKey: KeyObject;
  agentTokens: AgentTokens;
  /** Check that agents answer, and nobody else (src/core/protocol/agent-proof.ts). */
  agentKeys: AgentKeys;
  metrics: ApiMetrics;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
  log: Logger;
};
