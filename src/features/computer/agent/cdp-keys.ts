/** Keys as Chromium's DevTools take them: those of a keyboard of the United States. */
import { keyNamed, keysymOf } from "./keys.ts";

/** `text`: what it types; undefined when nothing. `virtualKey`: by Windows. */
export type CdpKey = { key: string; code: string; virtualKey: number; text?: string; withShift: boolean };

/** code, virtual key, characters without and with Shift. */
const printing: readonly (readonly [string, number, string, string])[] = [
  ["Backquote", 192, "`", "~"],
  ["Minus", 189, "-", "_"],
  ["Equal", 187, "=", "+"],
  ["BracketLeft", 219, "[", "{"],
  ["BracketRight", 221, "]", "}"],
  ["Backslash", 220, "\\", "|"],
  ["Semicolon", 186, ";", ":"],
  ["Quote", 222, "'", '"'],
  ["Comma", 188, ",", "<"],
  ["Period", 190, ".", ">"],
  ["Slash", 191, "/", "?"],
  ["Space", 32, " ", " "],
  ...[..."1!2@3#4$5%6^7&8*9(0)"].flatMap((digit, index, all): [string, number, string, string][] =>
    index % 2 === 0 ? [[`Digit${digit}`, digit.charCodeAt(0), digit, all[index + 1] ?? ""]] : [],
  ),
  ...[..."abcdefghijklmnopqrstuvwxyz"].map((letter): [string, number, string, string] => {
    const upper = letter.toUpperCase();
    return [`Key${upper}`, upper.charCodeAt(0), letter, upper];
  }),
];

/** X11's name, key and code of the web, virtual key. */
const others: readonly (readonly [string, string, string, number])[] = [
  ["BackSpace", "Backspace", "Backspace", 8],
  ["Tab", "Tab", "Tab", 9],
  ["Return", "Enter", "Enter", 13],
  ["KP_Enter", "Enter", "NumpadEnter", 13],
  ["Shift_L", "Shift", "ShiftLeft", 16],
  ["Shift_R", "Shift", "ShiftRight", 16],
  ["Control_L", "Control", "ControlLeft", 17],
  ["Control_R", "Control", "ControlRight", 17],
  ["Alt_L", "Alt", "AltLeft", 18],
  ["Alt_R", "Alt", "AltRight", 18],
  ["ISO_Level3_Shift", "AltGraph", "AltRight", 18],
  ["Pause", "Pause", "Pause", 19],
  ["Caps_Lock", "CapsLock", "CapsLock", 20],
  ["Escape", "Escape", "Escape", 27],
  ["Page_Up", "PageUp", "PageUp", 33],
  ["Page_Down", "PageDown", "PageDown", 34],
  ["End", "End", "End", 35],
  ["Home", "Home", "Home", 36],
  ["Left", "ArrowLeft", "ArrowLeft", 37],
  ["Up", "ArrowUp", "ArrowUp", 38],
  ["Right", "ArrowRight", "ArrowRight", 39],
  ["Down", "ArrowDown", "ArrowDown", 40],
  ["Print", "PrintScreen", "PrintScreen", 44],
  ["Insert", "Insert", "Insert", 45],
  ["Delete", "Delete", "Delete", 46],
  ["Super_L", "Meta", "MetaLeft", 91],
  ["Super_R", "Meta", "MetaRight", 92],
  ["Meta_L", "Meta", "MetaLeft", 91],
  ["Meta_R", "Meta", "MetaRight", 92],
  ["Menu", "ContextMenu", "ContextMenu", 93],
  ["Num_Lock", "NumLock", "NumLock", 144],
  ["Scroll_Lock", "ScrollLock", "ScrollLock", 145],
  ...Array.from({ length: 24 }, (_, index): [string, string, string, number] => {
    const name = `F${index + 1}`;
    return [name, name, name, 112 + index];
  }),
];

/** What types something besides characters. */
const texts: Readonly<Record<string, string>> = { Enter: "\r" };

const table = (): Map<number, CdpKey> => {
  const keys = new Map<number, CdpKey>();
  for (const [code, virtualKey, plain, shifted] of printing)
    for (const [text, withShift] of [[shifted, true] as const, [plain, false] as const])
      keys.set(keysymOf(text), { key: text, code, virtualKey, text, withShift });
  for (const [name, key, code, virtualKey] of others) {
    const text = texts[key];
    keys.set(keyNamed(name) ?? 0, { key, code, virtualKey, withShift: false, ...(text !== undefined && { text }) });
  }
  return keys;
};

const keys = table();

/** The character that a keysym is; undefined for keys that are none. */
export const characterOf = (keysym: number): string | undefined => {
  if (keysym >= 0x01000000) return String.fromCodePoint(keysym - 0x01000000);
  return (keysym >= 0x20 && keysym <= 0x7e) || (keysym >= 0xa0 && keysym <= 0xff)
    ? String.fromCharCode(keysym)
    : undefined;
};

/** The key of a keysym; undefined when that keyboard has none. */
export const cdpKeyOf = (keysym: number): CdpKey | undefined => keys.get(keysym);
