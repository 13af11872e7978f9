/**
 * Finalizers of pools, browsers, vaults, credentials, connections and profiles. The HTTP API creates objects with them, and the operator adds them to objects
 * from YAML. The operator removes them when the dependent objects are gone, so nothing relies on garbage collection.
 */

/** On a vault until its items are gone. */
export const itemsFinalizer = "browserpool.dev/items";

/** On a credential or a connection until the Secret that belongs to it is gone. */
export const secretFinalizer = "browserpool.dev/secret";

/** On an object whose contents are in the store of blobs, until they are gone. */
export const blobsFinalizer = "browserpool.dev/blobs";

/** On a pool or an on-demand browser until its pods are gone. A pool gets it from the operator alone. */
export const drainFinalizer = "browserpool.dev/drain";
