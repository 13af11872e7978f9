/** A clock that is wrong from the start, as on a machine that asks no time server. */

/**
 * Arguments of Node itself: the program's wall clock is `aheadSeconds` ahead of the machine's (negative: behind it).
 * Timers are right.
 */
export const wrongClock = (aheadSeconds: number): string[] => {
  const code = `
    const RightDate = Date;
    const ahead = ${aheadSeconds * 1000};
    globalThis.Date = class Date extends RightDate {
      constructor(...given) { given.length === 0 ? super(RightDate.now() + ahead) : super(...given); }
      static now() { return RightDate.now() + ahead; }
    };`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
};
