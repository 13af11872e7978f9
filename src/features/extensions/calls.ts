/** The call by which a holder loads extensions into its browser: a contract for the API and for the agent. */
import { callContract } from "../../core/protocol/browser-call.ts";

/** Most bytes that the archives of a session have together, and so one upload. */
export const mostSessionBytes = 100 * 1024 * 1024;

/** Room for the form around the archives, bytes. */
const formBytes = 1024 * 1024;

/** All of them, or none. They are there until the end of the session. */
export const loadExtensions = callContract({
  method: "post",
  name: "extensions",
  upload: { type: "multipart/form-data", mostBytes: mostSessionBytes + formBytes },
  answer: undefined,
});
