/**
 * Answers `browsingContext.create` when the new tab is as the client has set up its session. The mapper answers as soon as the tab has
 * loaded, some milliseconds before it has told the browser of intercepts: a navigation that follows at once would not be held by them.
 *
 *   answer of create ──► `script.evaluate` in the tab, which the mapper carries out once the tab is set up ──► the answer goes on
 */
import { z } from "zod";
import type { Command, Message } from "./command.ts";

type ReadyTabs = {
  /** A command that is given to the mapper. */
  given(command: Command): void;
  /** An answer or event of the mapper. */
  tell(message: Message): void;
};

const Created = z.object({ type: z.literal("success"), result: z.object({ context: z.string() }) });

/** The first id of its own commands, downwards: none of a client's, nor the one by which a session is opened. */
const firstOwnId = -2;

/** `run`: gives a command to the mapper. `tell`: takes each message that is for others, in their order but for answers that wait. */
export const createReadyTabs = ({
  run,
  tell,
}: {
  run(command: Command): void;
  tell(message: Message): void;
}): ReadyTabs => {
  const creating = new Set<unknown>();
  const waiting = new Map<unknown, Message>();
  let ownId = firstOwnId;
  return {
    given({ id, method }) {
      if (method === "browsingContext.create") creating.add(id);
    },
    tell(message) {
      const answer = waiting.get(message.id);
      if (answer) {
        waiting.delete(message.id);
        // Also when the tab is gone by now: it was created.
        return tell(answer);
      }
      if (message.type === "event" || !creating.delete(message.id)) return tell(message);
      const { success, data } = Created.safeParse(message);
      if (!success) return tell(message);
      waiting.set(ownId, message);
      run({
        id: ownId,
        method: "script.evaluate",
        params: { expression: "0", awaitPromise: false, target: { context: data.result.context } },
      });
      ownId -= 1;
    },
  };
};
