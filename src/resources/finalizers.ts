/**
 * Finalizers of the vault's kinds. The HTTP API creates objects with them and the operator adds them to what YAML creates;
 * the operator takes them off when what belongs to the object is gone, so that nothing relies on garbage collection.
 */

/** On a vault until its items are gone. */
export const itemsFinalizer = "browserpool.dev/items";

/** On a credential or a connection until the Secret that belongs to it is gone. */
export const secretFinalizer = "browserpool.dev/secret";
