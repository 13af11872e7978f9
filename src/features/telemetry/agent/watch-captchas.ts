/** Captchas that pages show: by the addresses of their frames. Nothing here solves one. */
import type { Emit } from "./recorder.ts";
import { shownUrl } from "./source.ts";

const captchas: readonly [type: "hcaptcha" | "recaptcha" | "turnstile" | "geetest", host: RegExp, path: RegExp][] = [
  ["recaptcha", /^(www\.)?(google\.com|recaptcha\.net)$/, /^\/recaptcha\/(api2|enterprise)\/(anchor|bframe)/],
  ["hcaptcha", /(^|\.)hcaptcha\.com$/, /^\//],
  ["turnstile", /^challenges\.cloudflare\.com$/, /^\//],
  ["geetest", /(^|\.)geetest\.com$/, /^\//],
];

/** The kind of captcha that a frame of this URL shows. */
const captchaOf = (url: string): (typeof captchas)[number][0] | undefined => {
  const { protocol, hostname = "", pathname = "" } = URL.parse(url) ?? {};
  if (protocol !== "https:") return undefined;
  return captchas.find(([, host, path]) => host.test(hostname) && path.test(pathname))?.[0];
};

/** Tells each captcha once for its frame. `frame`: as the browser lists it. */
export const watchCaptchas = (emit: Emit) => {
  const told = new Map<string, string>();
  return {
    take({ targetId, url }: { targetId: string; url: string }): void {
      const type = captchaOf(url);
      if (!type || told.get(targetId) === type) return;
      told.set(targetId, type);
      const data = { target_id: targetId, target_type: "other" as const, url: shownUrl(url), captcha_type: type };
      emit("captcha_detected", data, { kind: "cdp", event: "Target.targetInfoChanged" });
    },
    forget: (targetId: string): void => void told.delete(targetId),
  };
};
