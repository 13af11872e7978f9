import type Kernel from "@onkernel/sdk";
import { browserKind } from "../../src/core/model/browsers/browser.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { eventually } from "./eventually.ts";
import { setCookie, withCdp } from "./raw-cdp.ts";

/** Gives the cookie `login` to a browser of a profile, and resolves when the profile has it. `namespace`: the project's. */
export const saveLogin = async (
  { kernel, kube, namespace }: { kernel: Kernel; kube: Kube; namespace: string },
  { profile, login }: { profile: string; login: string },
): Promise<void> => {
  const settings = { headless: true, timeout_seconds: 60, profile: { name: profile, save_changes: true } };
  const { session_id: name, cdp_ws_url } = await kernel.browsers.create(settings);
  // A cookie that ends with the browser stays in a profile, too.
  await withCdp(cdp_ws_url, (cdp) => setCookie(cdp, "login", login));
  await kernel.browsers.deleteByID(name);
  await eventually("the profile is saved", async () => {
    const browser = await kube.get(browserKind, { namespace, name });
    return browser?.status?.conditions.some(({ type, reason }) => type === "ProfileSaved" && reason === "Saved");
  });
};
