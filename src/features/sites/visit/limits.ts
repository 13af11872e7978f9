/**
 * The limits of a visit. `timeMs`: of all of it. `bytes`: that may come over the network. `loadMs`: from the page's document to its
 * `load` event; a page that is slower is taken as it is. `quietMs`: from then until it loads nothing more. `patienceMs`: how much longer
 * a page is watched that may lead on by itself, as a challenge does.
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

/** Time for a page to answer what it shows, and to be drawn, ms: one that keeps its main thread busy does neither. */
export const answerMs = 10_000;
