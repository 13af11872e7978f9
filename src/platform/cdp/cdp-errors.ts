/**
 * The browser answered a command with an error, or its session ended before the answer. The message is the browser's:
 * never pass it on.
 */
export class CdpRefused extends Error {
  override name = "CdpRefused";
}

/** The connection is gone: cut by the signal, or lost. */
export class CdpClosed extends Error {
  override name = "CdpClosed";
}

/** The browser's guard has one connection of this purpose already. */
export class CdpBusy extends Error {
  override name = "CdpBusy";
}

/** The command's own deadline is over. The browser may still carry the command out. */
export class CdpTimeout extends Error {
  override name = "CdpTimeout";
}
