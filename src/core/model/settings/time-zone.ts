/** The name by which programs find the time zone, whatever case it is given in; undefined when there is none. */
export const timeZoneOf = (name: string): string | undefined => {
  // Intl takes offsets too.
  if (/^[+-]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** Whether the IANA database has a time zone of this name. */
export const isTimeZone = (name: string): boolean => timeZoneOf(name) !== undefined;
