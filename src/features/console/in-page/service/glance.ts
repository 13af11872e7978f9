/**
 * Pictures of a session, a few in a second at most, over the socket of its live view (docs/live-view.md): the agent
 * sends the next picture when the last one is acknowledged, so the pause before that is the rate.
 *
 *   looking ──picture──► drawn ──pause──► acknowledged ──► looking
 *      └── the socket closes ──► ended, or after a pause looking again
 */

/** `picture`: to be drawn, and closed. `why`: there is no picture. */
export type Seen = { picture: ImageBitmap } | { why: "hidden" | "crashed" | "none" | "ended" };

type Told = { type: string; state?: string };

const headBytes = 8;

/** The width to which pictures are scaled down, pixels: the widest of a tile. */
const widthPx = 480;

const againMs = 5000;

/** What is said of a tab that is not shown. */
const whyNot = (state: string | undefined): "hidden" | "crashed" | "none" | undefined =>
  state === "hidden" || state === "crashed" || state === "none" ? state : undefined;

const socketUrl = (liveViewUrl: string): URL => {
  const url = new URL(liveViewUrl);
  // The page reaches the service by its own origin, whatever the service calls itself.
  url.host = location.host;
  url.protocol = location.protocol.replace("http", "ws");
  url.searchParams.set("glance", "true");
  return url;
};

/** Looks at a session until `signal` is aborted. `everyMs`: the least time between two pictures. */
export const glance = (
  liveViewUrl: string,
  { everyMs, onSeen, signal }: { everyMs: number; onSeen: (seen: Seen) => void; signal: AbortSignal },
): void => {
  const socket = new WebSocket(socketUrl(liveViewUrl));
  socket.binaryType = "arraybuffer";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    socket.close();
  };
  signal.addEventListener("abort", stop, { once: true });
  const acknowledge = (frame: number): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ack", frame }));
  };
  const draw = async (data: ArrayBuffer): Promise<void> => {
    const frame = new DataView(data).getUint32(0);
    const jpeg = new Blob([new Uint8Array(data, headBytes)], { type: "image/jpeg" });
    timer = setTimeout(acknowledge, everyMs, frame);
    const picture = await createImageBitmap(jpeg, { resizeWidth: widthPx, resizeQuality: "medium" });
    if (signal.aborted) picture.close();
    else onSeen({ picture });
  };
  socket.addEventListener("message", ({ data }: MessageEvent<ArrayBuffer | string>) => {
    if (data instanceof ArrayBuffer) return void draw(data).catch(() => undefined);
    const { type, state } = JSON.parse(data) as Told;
    const why = type === "tab" ? whyNot(state) : undefined;
    if (why) onSeen({ why });
  });
  socket.addEventListener("close", () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    if (signal.aborted) return;
    onSeen({ why: "ended" });
    const again = setTimeout(() => glance(liveViewUrl, { everyMs, onSeen, signal }), againMs);
    signal.addEventListener("abort", () => clearTimeout(again), { once: true });
  });
};
