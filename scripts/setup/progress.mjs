/** Interval of progress lines without a terminal: often enough to show life, rarely enough for a CI log. */
const reminderMs = 30_000;

/** Interval of the spinner's frames on a terminal. */
const frameMs = 100;

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** @typedef {{ isTTY?: boolean, columns?: number, write(text: string): unknown }} Output */

/** 75 → "1 min 15 s", 40 → "40 s". @param {number} seconds */
export const inWords = (seconds) => {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.round(seconds % 60)];
  return [minutes > 0 && `${minutes} min`, (rest > 0 || minutes === 0) && `${rest} s`].filter(Boolean).join(" ");
};

/**
 * Shows the steps that run, which may be several: one live line with their seconds on a terminal, plain lines
 * elsewhere.
 * @param {Output} output
 * @param {{ reminderEveryMs?: number }} [options]
 */
export const createProgress = (output, { reminderEveryMs = reminderMs } = {}) => {
  const live = output.isTTY === true;
  /** When each running step began, ms since 1970. @type {Map<string, number>} */
  const running = new Map();
  let frame = 0;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {number} sinceMs */
  const seconds = (sinceMs) => Math.round((Date.now() - sinceMs) / 1000);
  const now = () => [...running].map(([title, sinceMs]) => `${title}, ${seconds(sinceMs)} s`).join(" · ");

  /** The live line is replaced by the next one, and cut to the terminal's width: a wrapped line can't be replaced. */
  const draw = () => {
    const line = `${frames[frame++ % frames.length]} ${now()}`;
    output.write(`\r\x1b[K${line.slice(0, (output.columns || 80) - 1)}`);
  };
  const erase = () => void (live && running.size > 0 && output.write("\r\x1b[K"));

  /** @param {string} line */
  const say = (line) => {
    erase();
    output.write(`setup: ${line}\n`);
    if (live && running.size > 0) draw();
  };

  const tick = live ? draw : () => say(`still ${now()}`);

  /** @param {string} title */
  const begin = (title) => {
    running.set(title, Date.now());
    timer ??= setInterval(tick, live ? frameMs : reminderEveryMs);
    if (live) draw();
    else say(`${title} …`);
  };

  /** @param {string} title @param {"✔" | "✘"} mark @param {string} outcome */
  const end = (title, mark, outcome) => {
    erase();
    running.delete(title);
    output.write(live ? `${mark} ${title}: ${outcome}\n` : `setup: ${title}: ${outcome}\n`);
    if (running.size > 0) return void (live && draw());
    clearInterval(timer);
    timer = undefined;
  };

  /**
   * Runs one step and shows it. `title`: what the step does ("building etcd"), another one for each step that runs;
   * `tell`: what to print about the result instead of "done". Returns what `work` returns, and throws what it throws.
   * @template T
   * @param {{ title: string, tell?: (result: T) => string | undefined }} step
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  const step = async ({ title, tell }, work) => {
    const sinceMs = Date.now();
    begin(title);
    try {
      const result = await work();
      end(title, "✔", tell?.(result) ?? `done in ${seconds(sinceMs)} s`);
      return result;
    } catch (error) {
      end(title, "✘", `stopped after ${seconds(sinceMs)} s`);
      throw error;
    }
  };

  return { say, step };
};

/** @typedef {ReturnType<typeof createProgress>} Progress */
