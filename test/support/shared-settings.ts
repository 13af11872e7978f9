/**
 * What the installations that files of tests share are set to, beside the defaults of local mode. Here stands what some
 * file needs and no other one notices.
 */

/** The origin of pages that may show live views in a frame. */
export const embeddingOrigin = "https://console.example";

/**
 * The origin of pages that may call the API; a browser counts its name as this machine's, and so the page as secure.
 */
export const callingOrigin = "http://console.localhost";

/** Room for one long recording in a project, bytes. */
const recordingBytes = 300 * 1024 ** 2;

export const sharedSettings = {
  BROWSERPOOL_LIVE_VIEW_ORIGINS: embeddingOrigin,
  BROWSERPOOL_ALLOWED_ORIGINS: `${embeddingOrigin}, ${callingOrigin}`,
  BROWSERPOOL_PROCESSES: "on",
  BROWSERPOOL_REPLAY_BYTES_PER_PROJECT: String(recordingBytes),
};
