/** Chromium does not take what the setup gives it, and would not at the next start either. The message is for users. */
export class SetupRefused extends Error {
  override name = "SetupRefused";
}
