/**
 * The page's connection to the browser, made anew when it breaks:
 *
 *   connecting ──► open ──► broken ── the page's own URL says 404 or 401 ──► ended
 *       ▲                     │
 *       └──── after a pause ──┘
 *
 * The pause doubles from half a second to ten, and begins anew once a connection has worked.
 */

/** @typedef {{ type: string, [field: string]: unknown }} Message */
/**
 * @typedef {object} Listener
 * @property {(message: any) => void} onMessage
 * @property {(picture: ArrayBuffer) => void} onPicture
 * @property {(state: "connecting" | "open" | "broken" | "ended" | "refused", reason: string) => void} onState
 */

const firstPauseMs = 500;
const longestPauseMs = 10_000;
const statusMs = 10_000;

const socketUrl = () => {
  const url = new URL(location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.hash = "";
  return url;
};

/** The HTTP status of this page now; 0 when nobody answers. */
const statusNow = async () => {
  try {
    const { status } = await fetch(location.href, {
      method: "HEAD",
      cache: "no-store",
      signal: AbortSignal.timeout(statusMs),
    });
    return status;
  } catch {
    return 0;
  }
};

/** Connects now and whenever the connection breaks, until the session has ended. @param {Listener} listener */
export const connect = ({ onMessage, onPicture, onState }) => {
  /** @type {WebSocket | undefined} */
  let socket;
  let pauseMs = firstPauseMs;

  const open = () => {
    onState("connecting", "");
    socket = new WebSocket(socketUrl());
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => onState("open", ""));
    socket.addEventListener("message", ({ data }) => {
      pauseMs = firstPauseMs;
      if (data instanceof ArrayBuffer) onPicture(data);
      else onMessage(JSON.parse(data));
    });
    socket.addEventListener("close", ({ reason }) => void onClose(reason));
  };
  const onClose = async (/** @type {string} */ reason) => {
    onState("broken", reason);
    const status = await statusNow();
    if (status === 404) return onState("ended", "");
    if (status === 401) return onState("refused", "");
    setTimeout(open, pauseMs);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  };
  open();

  return {
    /** Sends a message, if there is a connection. @param {Message} message */
    send(message) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
  };
};
