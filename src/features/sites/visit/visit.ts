/**
 * What one visit of a page saw: all that the judge goes by. Its texts come from the page and are never shown to anyone.
 */

/** The most characters that are kept of a page's text and of its markup. */
export const maxSeenText = 65_536;

/** The most characters that are kept of a title, a header's value, a URL or an error. */
export const maxSeenLine = 2048;

/** The most headers, frames and redirects that are kept. */
export const maxSeenItems = 64;

/**
 * `status`, `headers` (names in lower case): of the last answer to the main frame; undefined and none when no answer
 * came. `redirects`: the URLs that led to `url`, oldest first. `text`: what the page shows. `frames`: the URLs of
 * frames inside. `isBlank`: the screenshot has one colour only; undefined without one. `error`: why there is no page,
 * in Chromium's words (`ERR_…`) or one of `visitErrors`.
 */
export type Visit = {
  status: number | undefined;
  headers: Readonly<Record<string, string>>;
  url: string;
  redirects: readonly string[];
  title: string;
  text: string;
  markup: string;
  frames: readonly string[];
  isBlank: boolean | undefined;
  error: VisitError | `ERR_${string}` | undefined;
};

/**
 * Why a visit ended without a page: its time was over, it had received too many bytes or opened too many windows or
 * frames, its tab crashed, the page was a download, the browser was gone, the site's robots.txt asks for no visit (RFC
 * 9309).
 */
export const visitErrors = [
  "TIMED_OUT",
  "TOO_LARGE",
  "CRASHED",
  "DOWNLOAD",
  "BROWSER_GONE",
  "ROBOTS_DISALLOWED",
] as const;
export type VisitError = (typeof visitErrors)[number];

/**
 * The limits of a visit. `timeMs`: of all of it. `bytes`: that may come over the network. `loadMs`: from the page's
 * document to its `load` event; a page that is slower is taken as it is. `quietMs`: from then until it loads nothing
 * more. `patienceMs`: how much longer a page is watched that may lead on by itself, as a challenge does.
 */
export type VisitLimits = { timeMs: number; bytes: number; loadMs: number; quietMs: number; patienceMs: number };

/** What most pages need. */
export const defaultLimits: VisitLimits = {
  timeMs: 30_000,
  bytes: 20 * 1024 * 1024,
  loadMs: 10_000,
  quietMs: 5000,
  patienceMs: 6000,
};

/** The most windows and dialogs that a page may open. */
export const maxWindows = 50;

/** The most frames and workers that have a session of their own: ordinary pages have fewer than a hundred. */
export const maxChildren = 256;

/** The most navigations of the main frame: as many as Chromium follows redirects of HTTP. */
export const maxNavigations = 20;

/**
 * Time for a page to answer what it shows, and to be drawn, ms: a page that keeps its main thread busy does neither.
 */
export const answerMs = 10_000;
