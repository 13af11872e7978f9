import { join } from "node:path";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { downloadsFolder } from "./files-dir.ts";

const timeoutMs = 5000;

/**
 * Returns what has Chromium put the downloads of its first context among the session's files. Chromium forgets it when a
 * connection ends that has said something else. `filesAt`: where the browser sees those files.
 */
export const takingDownloads = (cdp: Pick<CdpConnection, "send">, filesAt: string) => async (): Promise<void> => {
  const downloads = { behavior: "allow", downloadPath: join(filesAt, downloadsFolder) } as const;
  await cdp.send("Browser.setDownloadBehavior", downloads, { timeoutMs });
};
