/**
 * What the page of a tab asks its person for, and Chromium would ask for in windows that no picture has: a choice, a
 * value, files, a login. Each names the site that asks. Answers: `AnswerMessage`.
 */
import type { AnswerMessage } from "./messages.ts";

/** `site`: the origin of the document that asks, as Chromium tells it. */
type Asked = { id: number; site: string };

type Choice = { label: string; group: string; disabled: boolean };
export type Ask = Asked &
  (
    | { kind: "choice"; options: Choice[]; chosen: number }
    | { kind: "value"; input: string; value: string; min: string; max: string; step: string }
    | { kind: "files"; multiple: boolean; accept: string }
    | { kind: "login" }
  );

/** An ask without its number. */
export type NewAsk = Ask extends infer Each ? (Each extends Ask ? Omit<Each, "id"> : never) : never;

/** Takes answers to one ask. `finish`: the ask is over. */
type Answering = { answer(message: AnswerMessage): void; cancel(): void };

export type Asks = {
  present(): Ask | null;
  /**
   * Asks, unless something else is being asked: then this is cancelled. Returns the function by which the ask is over
   * without an answer.
   */
  put(ask: NewAsk, to: Answering): () => void;
  /** An answer to an ask that is over has no effect. */
  answer(message: AnswerMessage): void;
  /** Cancels what is asked. */
  end(): void;
};

/**
 * Nothing is asked yet. `waitMs`: what nobody answers is cancelled after this. `onNews`: another thing is asked, or
 * nothing any more.
 */
export const createAsks = (waitMs: number, onNews: () => void): Asks => {
  let count = 0;
  let present: { ask: Ask; to: Answering; timer: NodeJS.Timeout } | undefined;
  const over = (id: number): Answering | undefined => {
    if (present?.ask.id !== id) return undefined;
    const { to, timer } = present;
    clearTimeout(timer);
    present = undefined;
    onNews();
    return to;
  };
  return {
    present: () => present?.ask ?? null,
    put(ask, to) {
      if (present) {
        to.cancel();
        return () => undefined;
      }
      count += 1;
      const id = count;
      present = { ask: { ...ask, id } as Ask, to, timer: setTimeout(() => over(id)?.cancel(), waitMs) };
      onNews();
      return () => void over(id);
    },
    answer(message) {
      if (present?.ask.id !== message.ask) return;
      const isLast = message.type !== "file" || message.is_last;
      const to = isLast ? over(message.ask) : present.to;
      if (message.type === "cancel") to?.cancel();
      else to?.answer(message);
    },
    end() {
      if (present) over(present.ask.id)?.cancel();
    },
  };
};
