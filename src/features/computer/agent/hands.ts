/** What hands do, one thing at a time. Each kind of browser has hands of its own; actions.ts uses them. */

export type Size = { width: number; height: number };
export type Region = Size & { x: number; y: number };

/** Buttons by X11's numbers: left, middle, right, back, forward. Those of the wheel (4 to 7) are `wheel`. */
export type Button = 1 | 2 | 3 | 8 | 9;

/** Its text; empty without one. */
export type Clipboard = { read(): Promise<string>; write(text: string): Promise<void> };

/** Disposing them releases the buttons that are held, and closes their connection. */
export type Hands = AsyncDisposable & {
  /** False when what they work on is gone. */
  isAlive(): boolean;
  clipboard: Clipboard;
  size(): Promise<Size>;
  position(): Promise<{ x: number; y: number }>;
  move(to: { x: number; y: number }): Promise<void>;
  button(button: Button, isDown: boolean): Promise<void>;
  /** Notches: down and to the right are positive. */
  wheel(notches: { x: number; y: number }): Promise<void>;
  /**
   * Makes sure that the keyboard has these keys, before `key` is called with them. Resolves with how many of them it has,
   * from the first on: a keyboard has not room for every character at once.
   */
  prepareKeys(keysyms: readonly number[]): Promise<number>;
  key(keysym: number, isDown: boolean): Promise<void>;
  /** Resolves when the browser has taken what was done, or is too busy to tell. */
  settle(): Promise<void>;
  /** RGBA of the screen or a part of it. `pointer`: with the mouse's. */
  picture(region: Region, options: { pointer: boolean }): Promise<Uint8Array>;
};
