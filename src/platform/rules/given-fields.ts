/** Undefined for an empty object or list: in a request it means the same as none. */
export const notEmpty = <Value extends object>(value: Value | undefined): Value | undefined =>
  value && Object.keys(value).length > 0 ? value : undefined;

/** A field that may be undefined may be missing; the others stay as they are. */
type Given<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Removes the keys of undefined fields, so that specs with equal fields compare equal. */
export const withoutUndefined = <T extends object>(value: T): Given<T> =>
  // `fromEntries` forgets which fields there are.
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Given<T>;
