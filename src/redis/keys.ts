/** The keys of what Redis keeps beside the leases. All begin with `bp:`, so that an ACL can name them. */
/** Hash of the session names in use in a project: name → `<pool uid>/<session id>`. */
export const sessionNamesKey = (projectId: string): string => `bp:{${projectId}}:session_names`;

/** The kept answer of a request with an `Idempotency-Key`. */
export const idempotencyKey = (digest: string): string => `bp:{${digest}}:answer`;

/** Who holds the lock on what must not be done twice at once, by its digest. The key keeps its first name. */
export const lockKey = (digest: string): string => `bp:{${digest}}:turn`;

/** Stream of what was done with a vault item. */
export const itemEventsKey = (itemUid: string): string => `bp:{${itemUid}}:item_events`;
