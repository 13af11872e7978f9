/** A page that has not answered after this stands still, ms. */
const standsMs = 1500;

type Standing = {
  /** Whether the page has not answered for too long. */
  stands(): boolean;
  /** The page has answered, or is another one. */
  answers(): void;
  stop(): void;
};

/**
 * A page that was asked something just now, and may stand still: with a dialog that was open before, which only the
 * client that has heard of it can answer. `onNews`: another answer of `stands`.
 */
export const createStanding = (onNews: () => void): Standing => {
  let stands = false;
  const set = (now: boolean): void => {
    if (now === stands) return;
    stands = now;
    onNews();
  };
  const timer = setTimeout(() => set(true), standsMs);
  const stop = (): void => clearTimeout(timer);
  return {
    stands: () => stands,
    stop,
    answers() {
      stop();
      set(false);
    },
  };
};
