/**
 * Further arguments of a Chromium that starts with a profile. Many sites keep a login in a cookie without an expiry, which Chromium
 * forgets at a start unless it restores the last session. The archive has no tabs, so nothing else comes back by that.
 */
export const profileFlags: readonly string[] = ["--restore-last-session"];
