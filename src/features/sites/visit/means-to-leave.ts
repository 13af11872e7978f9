/**
 * What a document needs to lead on without a click: a script, also one in an attribute or of a style sheet of XML, a `meta` that
 * refreshes, or a frame, which may navigate the window around it. Plain text: what is found too much costs a few seconds only.
 */
const means = /script|http-equiv|frame|<object|<embed|xml-stylesheet|\bon[a-z]{3,30}\s{0,9}=/i;

/** Whether a document may lead on by itself. `source`: as the site sent it, since a script can take itself out of the page. */
export const hasMeansToLeave = (source: string): boolean => means.test(source);
