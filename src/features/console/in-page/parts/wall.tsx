/**
 * Sessions as a wall of live pictures. Only tiles that are in sight look at their browser, and none while the page is
 * hidden. A click opens the live view.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { glance, type Seen } from "../service/glance.ts";
import { sessionName } from "./session-columns.tsx";
import { plainText, Text } from "./text.tsx";

const isPageSeen = signal(!document.hidden);

document.addEventListener("visibilitychange", () => {
  isPageSeen.value = !document.hidden;
});

/** Whether an element is in sight, or about to be. */
const useInSight = (element: { current: Element | null }): boolean => {
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const observer = new IntersectionObserver(([entry]) => setInSight(entry?.isIntersecting ?? false), {
      rootMargin: "100px",
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return inSight && isPageSeen.value;
};

const words = {
  hidden: "Hidden: a vault filled a login into this page",
  crashed: "The page has crashed",
  none: "No tab is open",
  ended: "No picture",
} as const;

/** The URLs of a session, which only keys that may use it see. */
type Urls = Pick<Session, "browser_live_view_url" | "browser_live_view_read_only_url">;

type Look = { urls: Urls | undefined; why: keyof typeof words | undefined };

const drawOn = (canvas: HTMLCanvasElement, picture: ImageBitmap): void => {
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
};

/** Draws pictures of the session on the canvas while `isLooking`. */
const useGlance = (
  id: string,
  canvas: { current: HTMLCanvasElement | null },
  { isLooking, everyMs }: { isLooking: boolean; everyMs: number },
): Look => {
  const [urls, setUrls] = useState<Urls>();
  const [why, setWhy] = useState<keyof typeof words>();
  useEffect(() => {
    if (!isLooking) return undefined;
    const gone = new AbortController();
    const onSeen = (seen: Seen): void => {
      setWhy("why" in seen ? seen.why : undefined);
      if ("why" in seen) return;
      if (canvas.current) drawOn(canvas.current, seen.picture);
      seen.picture.close();
    };
    const look = async (): Promise<void> => {
      const session = await call<Session>("GET", `/browsers/${inPath(id)}`, { signal: gone.signal });
      setUrls(session);
      const url = session.browser_live_view_read_only_url;
      if (url) glance(url, { everyMs, onSeen, signal: gone.signal });
      else setWhy("ended");
    };
    look().catch(() => {
      if (!gone.signal.aborted) setWhy("ended");
    });
    return () => gone.abort();
  }, [id, isLooking, everyMs, canvas]);
  return { urls, why };
};

const Tile = ({ session, everyMs }: { session: Session; everyMs: number }) => {
  const tile = useRef<HTMLLIElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const isLooking = useInSight(tile);
  const { urls, why } = useGlance(session.session_id, canvas, { isLooking, everyMs });
  const name = sessionName(session);
  return (
    <li ref={tile} class="tile">
      <a
        class="picture"
        {...(urls?.browser_live_view_url && { href: urls.browser_live_view_url })}
        target="_blank"
        rel="noopener"
      >
        <span class="unseen">Live view of {plainText(name)}</span>
        <canvas ref={canvas} class={why === undefined ? "" : "unseen"} />
        {why !== undefined && <span class="muted">{words[why]}</span>}
      </a>
      <p>
        <a href={to(["sessions", session.session_id])}>
          <Text of={name} />
        </a>
        {session.pool && <Text of={session.pool.name ?? session.pool.id} />}
      </p>
    </li>
  );
};

/** Tiles at once; a browser opens no more sockets to one place than some hundred. */
const mostTiles = 60;

/** The wall of these sessions. `everyMs`: the least time between two pictures of each. */
export const Wall = ({ sessions, everyMs }: { sessions: readonly Session[]; everyMs: number }) => (
  <>
    {sessions.length > mostTiles && (
      <p class="muted">
        The first {mostTiles} of {sessions.length}; filter by a pool or a tag to see others.
      </p>
    )}
    <ul class="wall" aria-label="Live pictures">
      {sessions.slice(0, mostTiles).map((session) => (
        <Tile key={session.session_id} session={session} everyMs={everyMs} />
      ))}
    </ul>
  </>
);
