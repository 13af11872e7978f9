import type { PreparePart } from "../../../core/agent/browser-parts.ts";

/**
 * Further arguments of a Chromium that starts with a profile. Many sites keep a login in a cookie without an expiry,
 * which Chromium forgets at a start unless it restores the last session. The archive has no tabs, so nothing else comes
 * back by that.
 */
export const profileFlags: readonly string[] = ["--restore-last-session"];

/**
 * Gives a Chromium the profile of its setup. One in which nothing is saved yet is filled by the browser that begins it.
 */
export const profilePart: PreparePart = async ({ received, profileDir, signal }) => {
  const ref = received?.setup.profile;
  if (received && ref) {
    const { loadProfile } = await import("./load-profile.ts");
    await loadProfile(received.archive(ref), { ref, profileDir }, signal);
  }
  return ref || received?.setup.save_to !== undefined ? { needsFullBrowser: true, flags: profileFlags } : {};
};
