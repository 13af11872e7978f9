/** The name by which programs find the time zone, whatever case it is given in. Throws a RangeError when there is none. */
export const timeZoneOf = (name: string): string =>
  new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;

/** Whether the IANA database has a time zone of this name. */
export const isTimeZone = (name: string): boolean => {
  // Intl takes offsets too.
  if (/^[+-]/.test(name)) return false;
  try {
    timeZoneOf(name);
    return true;
  } catch {
    return false;
  }
};
