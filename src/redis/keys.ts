/** The keys of everything in Redis besides the leases. All begin with `bp:`, so that an ACL can name them. */

/** Hash of the session names in use in a project: name → `<pool uid>/<session id>`. */
export const sessionNamesKey = (projectId: string): string => `bp:{${projectId}}:session_names`;

/** The kept answer of a request with an `Idempotency-Key`. */
export const idempotencyKey = (digest: string): string => `bp:{${digest}}:answer`;

/** The holder of a lock; `digest`: of the lock's name. The suffix `turn` is an older name of locks. */
export const lockKey = (digest: string): string => `bp:{${digest}}:turn`;

/** The stream of a vault item's events. */
export const itemEventsKey = (itemUid: string): string => `bp:{${itemUid}}:item_events`;
