/** Undefined for an empty object or list: in a request it means the same as none. */
export const notEmpty = <Value extends object>(value: Value | undefined): Value | undefined =>
  value && Object.keys(value).length > 0 ? value : undefined;

/** Removes the keys of undefined fields, so that specs with equal fields compare equal. */
export const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
