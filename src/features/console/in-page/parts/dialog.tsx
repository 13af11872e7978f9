/** Questions and forms in front of the page. Escape and a click beside it close them; the focus goes back. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/** A dialog that is open as long as it is there. */
export const Dialog = ({
  title,
  onClose,
  children,
  isWide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  isWide?: boolean;
}) => {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={element}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div class="dialog-inside">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};

type Question = { title: string; text: string; action: string; isDangerous: boolean; answer: (yes: boolean) => void };

const question = signal<Question | undefined>(undefined);

/** Asks before something that can't be taken back. `action`: the word on the button. */
export const ask = (asked: Omit<Question, "answer" | "isDangerous"> & { isDangerous?: boolean }): Promise<boolean> => {
  question.value?.answer(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (yes: boolean): void => {
    question.value = undefined;
    resolve(yes);
  };
  question.value = { isDangerous: true, ...asked, answer };
  return promise;
};

/** Where `ask` asks. */
export const Questions = () => {
  const asked = question.value;
  if (!asked) return null;
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <div class="row end">
        <button type="button" onClick={() => asked.answer(false)}>
          Cancel
        </button>
        <button type="button" class={asked.isDangerous ? "danger" : "primary"} onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
      </div>
    </Dialog>
  );
};
