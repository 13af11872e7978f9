/**
 * The keyboard of an X server: which key of it, with Shift or without, makes a keysym. Characters that it lacks get one
 * of its free keys, the one that was used the longest time ago.
 */
import type { XConnection } from "../../../core/agent/x-connection.ts";

const getKeyboardMapping = 101;
const changeKeyboardMapping = 100;
const noSymbol = 0;

/** How a keysym is made. */
type Key = { code: number; withShift: boolean };

type XKeyboard = {
  /**
   * Gives keys to these keysyms, as far as there are any: `ready` of them, from the first on. `isChanged`: who reads the
   * keyboard must learn of it.
   */
  provide(keysyms: readonly number[]): { ready: number; isChanged: boolean };
  /** Whether `provide` would change the keyboard for them. */
  lacks(keysyms: readonly number[]): boolean;
  /** The key of a keysym that was provided. */
  keyOf(keysym: number): Key | undefined;
  /** Takes back what was lent to characters. */
  restore(): Promise<void>;
};

/** Of the keyboard as it is now. */
export const readKeyboard = async (x: XConnection): Promise<XKeyboard> => {
  const { first, last } = x.keycodes;
  const answer = await x.ask(getKeyboardMapping, 0, [Buffer.from([first, last - first + 1, 0, 0])]);
  const perKey = answer.readUInt8(1);
  const keys = new Map<number, Key>();
  const freeCodes: number[] = [];
  for (let code = first; code <= last; code += 1) {
    const at = 32 + (code - first) * perKey * 4;
    const symbols = Array.from({ length: perKey }, (_, level) => answer.readUInt32LE(at + level * 4));
    if (symbols.every((symbol) => symbol === noSymbol)) freeCodes.push(code);
    for (const [level, symbol] of symbols.slice(0, 2).entries())
      if (symbol !== noSymbol && !keys.has(symbol)) keys.set(symbol, { code, withShift: level === 1 });
  }
  /** Keysyms that have a free key now, the oldest first. */
  const lent = new Map<number, number>();

  const assign = (code: number, keysym: number): void =>
    // Both levels, so that a held Shift changes nothing.
    x.send(changeKeyboardMapping, 1, [Buffer.from([code, 2, 0, 0]), keysym, keysym]);
  /** False when all keys are lent to characters of `wanted`. */
  const lend = (keysym: number, wanted: ReadonlySet<number>): boolean => {
    const oldest = [...lent].find(([other]) => !wanted.has(other));
    const code = freeCodes.pop() ?? oldest?.[1];
    if (code === undefined) return false;
    if (oldest && oldest[1] === code) {
      lent.delete(oldest[0]);
      keys.delete(oldest[0]);
    }
    lent.set(keysym, code);
    keys.set(keysym, { code, withShift: false });
    assign(code, keysym);
    return true;
  };
  return {
    provide(keysyms) {
      const wanted = new Set<number>();
      let isChanged = false;
      for (const [index, keysym] of keysyms.entries()) {
        wanted.add(keysym);
        if (keys.has(keysym)) continue;
        if (!lend(keysym, wanted)) return { ready: index, isChanged };
        isChanged = true;
      }
      return { ready: keysyms.length, isChanged };
    },
    lacks: (keysyms) => keysyms.some((keysym) => !keys.has(keysym)),
    async restore() {
      for (const code of lent.values()) assign(code, noSymbol);
      await x.ask(getKeyboardMapping, 0, [Buffer.from([first, 1, 0, 0])]);
    },
    keyOf: (keysym) => keys.get(keysym),
  };
};
