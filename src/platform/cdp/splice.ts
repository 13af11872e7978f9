import type { Socket } from "node:net";

type SpliceOptions = {
  /**
   * Closes both sides as soon as one side has ended and its last byte is passed on. Without it, the other side may go
   * on sending, and both stay open until it ends, too.
   */
  closeAtFirstEnd?: boolean;
};

/**
 * Joins two sockets: passes bytes on as they are, at the pace of the slower side, and parses no frame. When one side
 * fails or closes, the other is closed as well.
 */
export const splice = (near: Socket, far: Socket, { closeAtFirstEnd = false }: SpliceOptions = {}): void => {
  const close = (): void => {
    near.destroy();
    far.destroy();
  };
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on("error", close);
    from.on("close", close);
    // `pipe` ends the other side after the last byte; `finish` says that this end is flushed.
    if (closeAtFirstEnd) to.once("finish", close);
    from.pipe(to);
  }
};
