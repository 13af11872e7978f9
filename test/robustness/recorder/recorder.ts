/**
 * Where everything that is seen of a run goes: into the history that is open now. The recorders run as long as the
 * topology, histories come and go; what happens between two of them is forgotten.
 */
import { createHistory, type HistoryEvent, type HistoryWriter } from "../history/history.ts";

export type Recorder = {
  write(event: HistoryEvent): void;
  /** Opens a history in `file`; the one before must be closed. */
  open(file: string): void;
  /** Resolves when the open history is in its file. */
  close(): Promise<void>;
};

export const createRecorder = (): Recorder => {
  let history: HistoryWriter | undefined;
  return {
    write: (event) => history?.write(event),
    open(file) {
      if (history) throw new Error("the history before is still open");
      history = createHistory(file);
    },
    async close() {
      const closing = history;
      history = undefined;
      await closing?.close();
    },
  };
};
