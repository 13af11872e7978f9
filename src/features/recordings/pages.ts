/** The page of a recording, for a person who opens its URL, and what it says when there is no video. */
import { type Html, html, htmlPage } from "../../core/http/html.ts";
import type { StoredRecording } from "./recording-store.ts";

/** Relative to `/gateway/<session>/replays/<replay>`, so that a prefix in front of the service is kept. */
const css = "../../../replay.css";

const layout = (title: string, body: Html): string =>
  htmlPage({
    title,
    css,
    body: html`    <main>
      <h1>${title}</h1>
${body}    </main>
`,
  });

const time = (at: number): Html => {
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 19).replace("T", " ")} UTC</time>`;
};

/** `source`: the query of the page's own URL, at which players get the video. */
export const recordingPage = (
  { session, startedMs }: Pick<StoredRecording, "session" | "startedMs">,
  source: string,
): string =>
  layout(
    "Recording",
    html`      <p>Session <bdi>${session}</bdi>, from ${time(startedMs)}. It has no sound.</p>
      <video controls autoplay muted src="${source}" aria-label="Recording"></video>
      <p><a href="${source}&amp;download=true">Download the video</a></p>
`,
  );

/** A page with words in the place of a video. */
export const noticePage = (title: string, text: string): string =>
  layout(title, html`      <p role="status">${text}</p>\n`);

/** What `/replay.css` has besides the tokens. */
export const style = `main { max-width: 75rem; margin: 0 auto; padding: var(--space-4); }
h1 { margin: 0; font-size: 1.375rem; }
video { display: block; width: 100%; max-height: 80vh; background: #000; border-radius: var(--radius); }
bdi { overflow-wrap: anywhere; }
`;
