/**
 * Loads unpacked extensions into a Chromium that has just started, before anyone else reaches it.
 *
 * By CDP and not by `--load-extension`: each extension is loaded before the next one begins, so the order is certain;
 * an extension that Chromium does not take is refused with a reason, which the switch only logs; and contexts that a
 * client makes have the extension too, for which the switch has no word. It needs the program `chromium`, also
 * headless: `chromium-headless-shell` knows no extensions.
 */
import { SetupRefused } from "../../../core/agent/setup-refused.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused } from "../../../platform/cdp/cdp-errors.ts";

/** Chromium needs 20 ms for a small extension; one of 10,000 files on a busy machine needs longer. */
const timeoutMs = 15_000;

/** An extension in a folder of its own. `name`: what errors call it. */
export type UnpackedExtension = { name: string; folder: string };

/** Names the extension, with Chromium's reason, without the place of this browser's files. */
const failed = ({ name, folder }: UnpackedExtension, cause: Error): Error => {
  const message = `Chromium does not load the extension ${name}: ${cause.message.replaceAll(`${folder}/`, "")}`;
  return cause instanceof CdpRefused ? new SetupRefused(message, { cause }) : new Error(message, { cause });
};

/**
 * Loads the extensions one after the other, in the order of the list. Of two that set the same (a start page, a proxy),
 * the later one counts. Returns their ids. Rejects at the first that Chromium does not take, with its name and
 * Chromium's reason: by `SetupRefused`, or by another error when Chromium does not answer. Then none is loaded.
 */
export const loadExtensions = async (extensions: UnpackedExtension[], cdp: CdpConnection): Promise<string[]> => {
  const ids: string[] = [];
  for (const extension of extensions) {
    const params = { path: extension.folder, enableInIncognito: true };
    try {
      const { id } = await cdp.send("Extensions.loadUnpacked", params, { timeoutMs });
      ids.push(id);
    } catch (cause) {
      await Promise.allSettled(ids.map((id) => cdp.send("Extensions.uninstall", { id }, { timeoutMs })));
      throw failed(extension, cause as Error);
    }
  }
  return ids;
};
