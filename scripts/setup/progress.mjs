/** Interval of progress lines without a terminal: often enough to show life, rarely enough for a CI log. */
const reminderMs = 30_000;

/** Interval of the spinner's frames on a terminal. */
const frameMs = 100;

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** @typedef {{ isTTY?: boolean, columns?: number, write(text: string): unknown }} Output */

/**
 * Shows the current step: a live line with the seconds on a terminal, plain lines elsewhere.
 * @param {Output} output
 * @param {{ reminderEveryMs?: number }} [options]
 */
export const createProgress = (output, { reminderEveryMs = reminderMs } = {}) => {
  const live = output.isTTY === true;

  /** @param {string} line */
  const say = (line) => void output.write(`setup: ${line}\n`);

  /** @param {string} line replaced by the next one; cut to the terminal's width, since a wrapped line can't be replaced */
  const draw = (line) => void output.write(`\r\x1b[K${line.slice(0, (output.columns || 80) - 1)}`);

  /**
   * Runs one step and shows it. `title`: what the step does ("building etcd"); `expected`: how long it takes, in words;
   * `tell`: what to print about the result instead of "done". Returns what `work` returns, and throws what it throws.
   * @template T
   * @param {{ title: string, expected?: string, tell?: (result: T) => string | undefined }} step
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  const step = async ({ title, expected, tell }, work) => {
    const startedAtMs = Date.now();
    const seconds = () => Math.round((Date.now() - startedAtMs) / 1000);
    const text = expected ? `${title} (takes ${expected})` : title;
    let frame = 0;
    const tick = live
      ? () => draw(`${frames[frame++ % frames.length]} ${text} … ${seconds()} s`)
      : () => say(`still ${title}, ${seconds()} s`);
    if (live) tick();
    else say(`${text} …`);
    const timer = setInterval(tick, live ? frameMs : reminderEveryMs);
    /** @param {string} mark @param {string} outcome */
    const end = (mark, outcome) => {
      clearInterval(timer);
      if (!live) return say(outcome);
      output.write(`\r\x1b[K${mark} ${title}: ${outcome}\n`);
    };
    try {
      const result = await work();
      end("✔", tell?.(result) ?? `done in ${seconds()} s`);
      return result;
    } catch (error) {
      end("✘", `stopped after ${seconds()} s`);
      throw error;
    }
  };

  return { say, step };
};

/** @typedef {ReturnType<typeof createProgress>} Progress */
