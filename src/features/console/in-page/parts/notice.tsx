/** What the console says: short messages that go by themselves, and problems where they are. */
import { signal } from "@preact/signals";
import { ApiError } from "../service/api.ts";
import { plainText } from "./text.tsx";

type Message = { id: number; text: string; isProblem: boolean };

const messages = signal<readonly Message[]>([]);

/** At once on the page; older ones go. */
const mostMessages = 4;

/** How long a message stays, ms; a problem stays until it is closed. */
const stayMs = 6000;

let lastId = 0;

const close = (id: number): void => {
  messages.value = messages.value.filter((message) => message.id !== id);
};

/** Says that something was done. */
export const say = (text: string): void => {
  const id = ++lastId;
  messages.value = [...messages.value, { id, text, isProblem: false }].slice(-mostMessages);
  setTimeout(() => close(id), stayMs);
};

/** What an error says to a person. */
export const wordsOf = (error: unknown): string => {
  if (error instanceof ApiError && error.code === "forbidden") return `Not allowed: ${plainText(error.message)}`;
  if (error instanceof ApiError && error.code === "unavailable")
    return `${plainText(error.message).replace(/; repeat the request$/, "")}. Try again in a moment.`;
  return plainText(error instanceof Error ? error.message : String(error));
};

/** Says that something failed; stays until it is closed. */
export const complain = (error: unknown): void => {
  if (error instanceof ApiError && error.code === "aborted") return;
  messages.value = [...messages.value, { id: ++lastId, text: wordsOf(error), isProblem: true }].slice(-mostMessages);
};

/** Runs what a button starts: says `done`, or what failed. Returns whether it was done. */
export const attempt = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
  try {
    await work();
    say(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
};

/** The messages, in a corner of the page. */
export const Messages = () => (
  <div class="messages" role="status" aria-live="polite">
    {messages.value.map(({ id, text, isProblem }) => (
      <p key={id} class={isProblem ? "message bad" : "message"}>
        <span>{text}</span>
        <button type="button" class="bare" aria-label="Close this message" onClick={() => close(id)}>
          ✕
        </button>
      </p>
    ))}
  </div>
);

/** A problem, where it is. */
export const Problem = ({ error }: { error: unknown }) => (
  <p class="problem" role="alert">
    {wordsOf(error)}
  </p>
);
