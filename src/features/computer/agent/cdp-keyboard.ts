/** A keyboard of the United States whose keys go to a page by DevTools, with the characters that it lacks. */
import { type CdpKey, cdpKeyOf, characterOf } from "./cdp-keys.ts";
import { createDeadKeys } from "./dead-keys.ts";
import { keyNamed } from "./keys.ts";

/** An event of `Input.dispatchKeyEvent`. */
type KeyEvent = {
  type: "keyDown" | "rawKeyDown" | "keyUp";
  key: string;
  code: string;
  windowsVirtualKeyCode: number;
  modifiers: number;
  text?: string;
};

type CdpKeyboard = {
  /** The mask of the keys that are held, as every event of mouse and keyboard has it. */
  modifiers(): number;
  key(keysym: number, isDown: boolean): Promise<void>;
};

const modifiers: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
const shift = keyNamed("Shift") as number;
const shiftKey = cdpKeyOf(shift) as CdpKey;

/** The key that makes this text; of characters that no key makes, one without a place on the keyboard. */
const keyOfText = (text: string, known: CdpKey | undefined): CdpKey =>
  known?.text === text || known?.key === "Enter"
    ? known
    : { key: text, code: "", virtualKey: 0, text, withShift: false };

/** No key is held. */
export const createCdpKeyboard = (dispatch: (event: KeyEvent) => Promise<void>): CdpKeyboard => {
  const dead = createDeadKeys();
  const held = new Map<number, CdpKey>();
  /** Whether Shift is held for the character that is pressed, and not by the holder. */
  let ownShift = false;

  const maskNow = (): number => [...held.values()].reduce((mask, { key }) => mask | (modifiers[key] ?? 0), 0);
  const send = async (keysym: number, made: CdpKey, isDown: boolean): Promise<void> => {
    if (isDown) held.set(keysym, made);
    else held.delete(keysym);
    const { key, code, virtualKey, text } = made;
    const now = maskNow();
    // With Ctrl, Alt or Meta a key types nothing.
    const types = isDown && text !== undefined && (now & ~(modifiers.Shift ?? 0)) === 0;
    const type = isDown ? (types ? "keyDown" : "rawKeyDown") : "keyUp";
    const event = { type, key, code, windowsVirtualKeyCode: virtualKey, modifiers: now } as const;
    await dispatch({ ...event, ...(types && { text }) });
  };
  const press = async (keysym: number): Promise<void> => {
    if (dead.takes(keysym)) return;
    const known = cdpKeyOf(keysym);
    const character = characterOf(keysym) ?? known?.text;
    if (character === undefined) return known && send(keysym, known, true);
    const text = dead.compose(character);
    if (text === "") return;
    const key = keyOfText(text, known);
    if (key.withShift && !held.has(shift)) {
      ownShift = true;
      await send(shift, shiftKey, true);
    }
    await send(keysym, key, true);
  };
  const release = async (keysym: number): Promise<void> => {
    const key = held.get(keysym);
    if (!key) return;
    await send(keysym, key, false);
    if (!ownShift) return;
    ownShift = false;
    await send(shift, shiftKey, false);
  };
  return { modifiers: maskNow, key: (keysym, isDown) => (isDown ? press(keysym) : release(keysym)) };
};
