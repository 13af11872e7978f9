/** Undefined for what has nothing in it: an empty object or list in a request means the same as none. */
export const notEmpty = <Value extends object>(value: Value | undefined): Value | undefined =>
  value && Object.keys(value).length > 0 ? value : undefined;

/** Fields that are not set have no key, so that specs compare equal whichever way they came to be. */
export const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
