/** The keys of everything in Redis besides the leases. All begin with `bp:`, so that an ACL can name them. */

/** Hash of the session names in use in a project: name → `<pool uid>/<session id>`. */
export const sessionNamesKey = (projectId: string): string => `bp:{${projectId}}:session_names`;

/** The idempotent answer of a request with an `Idempotency-Key`. */
export const idempotencyKey = (digest: string): string => `bp:{${digest}}:answer`;

/** Hash of the bytes of idempotent answers that a holder (a key or a project) has, by the hour in which it got them. */
export const keptBytesKey = (holder: string): string => `bp:{${holder}}:kept_bytes`;

/** The holder of a lock; `digest`: of the lock's name. The suffix `turn` is an older name of locks. */
export const lockKey = (digest: string): string => `bp:{${digest}}:turn`;

/** The digest of the last code with which the console may be opened as an API key, by the key's id. */
export const consoleCodeKey = (keyId: string): string => `bp:{${keyId}}:console_code`;

/** Sorted set of the room that is reserved for sessions that begin in the organization with this system namespace. */
export const reservedSessionsKey = (systemNamespace: string): string => `bp:{${systemNamespace}}:reserved_sessions`;

/** The stream of a vault item's events, but for refused fills. */
export const itemEventsKey = (itemUid: string): string => `bp:{${itemUid}}:item_events`;

/** Hash of the last login that the service did for a connection: its version, the login as JSON, and its last check. */
export const loginFlowKey = (connectionUid: string): string => `bp:{${connectionUid}}:login_flow`;

/** Held while a replica checks that login. */
export const loginCheckKey = (connectionUid: string): string => `bp:{${connectionUid}}:login_check`;

/** Hash of the logins and checks of a connection: id → `TimelineEvent` in JSON. */
export const loginTimelineKey = (connectionUid: string): string => `bp:{${connectionUid}}:login_timeline`;

/** Sorted set of the next checks of logins in the organization with this system namespace, by their times, ms. */
export const loginChecksKey = (systemNamespace: string): string => `bp:{${systemNamespace}}:login_checks`;

/** How the delivery of a browser's setup stands, by the pod's uid. */
export const setupKey = (podUid: string): string => `bp:{${podUid}}:setup`;

/** The stream of a session's telemetry events; their ids are `<seq>-0`. */
export const telemetryKey = (session: string): string => `bp:{${session}}:telemetry`;

/** Hash of what is known of that stream: the last seq, the sum of its bytes, and whether the session has ended. */
export const telemetryStateKey = (session: string): string => `bp:{${session}}:telemetry_state`;

/** Sorted set of a project's ended sessions whose events are kept, by the time at which they go, ms. */
export const endedTelemetryKey = (projectId: string): string => `bp:{${projectId}}:telemetry_ended`;

/** Hash of the bytes of those events: session → bytes; under the empty name their sum. */
export const endedTelemetryBytesKey = (projectId: string): string => `bp:{${projectId}}:telemetry_bytes`;

/**
 * What API replicas collect from agents: the telemetry of sessions, recordings, or the files that sessions leave; and
 * the logins that they drive.
 */
export type CollectedKind = "telemetry" | "replays" | "files" | "logins";

/** Hash of what is collected: session, or recording → `<pool uid>/<replica>`. */
export const claimsKey = (kind: CollectedKind): string => `bp:{${kind}}:claims`;

/** Sorted set of the API replicas that collect, by the time at which Redis last heard of them, ms. */
export const collectorsKey = (kind: CollectedKind): string => `bp:{${kind}}:collectors`;

/** Hash of the recordings of a session: id → `StoredRecording` in JSON. */
export const recordingsKey = (poolUid: string, session: string): string => `bp:{${poolUid}/${session}}:replays`;

/** Hash of the room that a project's recordings take: id → `<the time at which it goes, ms>:<bytes>`. */
export const recordingRoomKey = (projectId: string): string => `bp:{${projectId}}:replay_room`;

/** Set for as long as no replica needs to look for old recordings. */
export const recordingSweepKey = "bp:{replays}:swept";

/** What is known of the files that a session has left, as `StoredFiles` in JSON. */
export const storedFilesKey = (poolUid: string, session: string): string => `bp:{${poolUid}/${session}}:files`;

/** Hash of the room that files of a project's ended sessions take: id → `<the time at which it goes, ms>:<bytes>`. */
export const filesRoomKey = (projectId: string): string => `bp:{${projectId}}:files_room`;

/** Set for as long as no replica needs to look for old files of sessions. */
export const filesSweepKey = "bp:{files}:swept";

/** The channel on which API replicas receive which browsers wait for their setup. */
export const setupsChannel = "bp:setups";

/** The channel on which the operator receives what sessions found of sites. */
export const siteReportsChannel = "bp:site_reports";

/** The stream of a vault item's refused fills. */
export const itemRefusalsKey = (itemUid: string): string => `bp:{${itemUid}}:item_refusals`;

/** Hash of what came of the requests to a telemetry destination. */
export const exportResultsKey = (destinationUid: string): string => `bp:{${destinationUid}}:export_results`;

/** The stream of a project's recent audit lines. */
export const auditLinesKey = (projectId: string): string => `bp:{${projectId}}:audit`;

/** The stream of recent audit lines without a project, in the organization with this system namespace. */
export const organizationAuditLinesKey = (systemNamespace: string): string => `bp:{${systemNamespace}}:audit_lines`;

/** Sorted set of the projects that have recent audit lines, by the time of the last ones, ms, within a minute. */
export const auditProjectsKey = (systemNamespace: string): string => `bp:{${systemNamespace}}:audit_projects`;
