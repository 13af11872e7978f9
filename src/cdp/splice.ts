import type { Socket } from "node:net";

export type SpliceOptions = {
  /**
   * Closes both sides as soon as one has ended and its last byte is passed on. Without it both stay until the other side ends
   * too, and what that side still sends arrives.
   */
  closeAtFirstEnd?: boolean;
};

/**
 * Joins two sockets: bytes go through as they are, at the pace of the slower side, and when one side fails or is closed the
 * other is closed too. No frame is looked at.
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
