/**
 * Keys by the names of X11, as the public clients give them, and characters as keysyms. A keysym of a character of
 * Latin-1 is its code point, of any other one 0x01000000 above it (X11's appendix A).
 */

/** Named keys that make no character. */
const named: Readonly<Record<string, number>> = {
  BackSpace: 0xff08,
  Tab: 0xff09,
  Return: 0xff0d,
  Pause: 0xff13,
  Scroll_Lock: 0xff14,
  Escape: 0xff1b,
  Home: 0xff50,
  Left: 0xff51,
  Up: 0xff52,
  Right: 0xff53,
  Down: 0xff54,
  Prior: 0xff55,
  Page_Up: 0xff55,
  Next: 0xff56,
  Page_Down: 0xff56,
  End: 0xff57,
  Print: 0xff61,
  Insert: 0xff63,
  Menu: 0xff67,
  Num_Lock: 0xff7f,
  KP_Enter: 0xff8d,
  Shift_L: 0xffe1,
  Shift_R: 0xffe2,
  Control_L: 0xffe3,
  Control_R: 0xffe4,
  Caps_Lock: 0xffe5,
  Meta_L: 0xffe7,
  Meta_R: 0xffe8,
  Alt_L: 0xffe9,
  Alt_R: 0xffea,
  Super_L: 0xffeb,
  Super_R: 0xffec,
  ISO_Level3_Shift: 0xfe03,
  Delete: 0xffff,
  dead_grave: 0xfe50,
  dead_acute: 0xfe51,
  dead_circumflex: 0xfe52,
  dead_tilde: 0xfe53,
  dead_macron: 0xfe54,
  dead_breve: 0xfe55,
  dead_abovedot: 0xfe56,
  dead_diaeresis: 0xfe57,
  dead_abovering: 0xfe58,
  dead_doubleacute: 0xfe59,
  dead_caron: 0xfe5a,
  dead_cedilla: 0xfe5b,
  dead_ogonek: 0xfe5c,
};

/** X11's names of characters that a name of one letter or digit can't give. */
const punctuation: Readonly<Record<string, string>> = {
  space: " ",
  exclam: "!",
  quotedbl: '"',
  numbersign: "#",
  dollar: "$",
  percent: "%",
  ampersand: "&",
  apostrophe: "'",
  parenleft: "(",
  parenright: ")",
  asterisk: "*",
  plus: "+",
  comma: ",",
  minus: "-",
  period: ".",
  slash: "/",
  colon: ":",
  semicolon: ";",
  less: "<",
  equal: "=",
  greater: ">",
  question: "?",
  at: "@",
  bracketleft: "[",
  backslash: "\\",
  bracketright: "]",
  asciicircum: "^",
  underscore: "_",
  grave: "`",
  braceleft: "{",
  bar: "|",
  braceright: "}",
  asciitilde: "~",
};

/** Names that people and models use for the same keys, in small letters. */
const aliases: Readonly<Record<string, string>> = {
  shift: "Shift_L",
  ctrl: "Control_L",
  control: "Control_L",
  alt: "Alt_L",
  option: "Alt_L",
  altgr: "ISO_Level3_Shift",
  super: "Super_L",
  meta: "Super_L",
  cmd: "Super_L",
  command: "Super_L",
  win: "Super_L",
  enter: "Return",
  esc: "Escape",
  del: "Delete",
  ins: "Insert",
  pageup: "Page_Up",
  pagedown: "Page_Down",
  arrowleft: "Left",
  arrowright: "Right",
  arrowup: "Up",
  arrowdown: "Down",
  capslock: "Caps_Lock",
  numlock: "Num_Lock",
  printscreen: "Print",
};

const inAnyCase = new Map(
  [...Object.keys(named), ...Object.keys(punctuation)].map((name) => [name.toLowerCase(), name]),
);

/** The keysym of a character. */
export const keysymOf = (character: string): number => {
  const point = character.codePointAt(0) ?? 0;
  if (character === "\n" || character === "\r") return named.Return as number;
  if (character === "\t") return named.Tab as number;
  const isLatin1 = (point >= 0x20 && point <= 0x7e) || (point >= 0xa0 && point <= 0xff);
  return isLatin1 ? point : 0x01000000 + point;
};

const functionKey = (name: string): number | undefined => {
  const [, number] = /^f(\d\d?)$/i.exec(name) ?? [];
  return number !== undefined && Number(number) >= 1 && Number(number) <= 24 ? 0xffbd + Number(number) : undefined;
};

/** The keysym of a key's name; undefined when no key has it. */
export const keyNamed = (name: string): number | undefined => {
  if ([...name].length === 1) return keysymOf(name);
  const unicode = /^U([0-9a-f]{4,6})$/i.exec(name)?.[1];
  if (unicode && Number.parseInt(unicode, 16) <= 0x10ffff)
    return keysymOf(String.fromCodePoint(Number.parseInt(unicode, 16)));
  const small = name.toLowerCase();
  const known = aliases[small] ?? inAnyCase.get(small) ?? name;
  const character = Object.hasOwn(punctuation, known) ? punctuation[known] : undefined;
  if (character !== undefined) return keysymOf(character);
  return functionKey(name) ?? (Object.hasOwn(named, known) ? named[known] : undefined);
};

/** `Ctrl++` is plus with Ctrl. */
const partsOf = (combination: string): string[] =>
  combination === "+"
    ? ["+"]
    : combination.endsWith("++")
      ? [...combination.slice(0, -2).split("+"), "+"]
      : combination.split("+");

/**
 * The keysyms of a key or of a combination such as `Ctrl+Shift+Tab`, in the order in which they are pressed; or the name
 * that no key has.
 */
export const keysOf = (combination: string): { keysyms: number[] } | { unknown: string } => {
  const keysyms: number[] = [];
  for (const part of partsOf(combination)) {
    const keysym = keyNamed(part);
    if (keysym === undefined) return { unknown: part };
    keysyms.push(keysym);
  }
  return { keysyms };
};
