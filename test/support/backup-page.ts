import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = readFileSync(join(import.meta.dirname, "../../docs/backup.md"), "utf8");
const [backup = "", before = "", after = ""] = [...page.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(
  ([, , block]) => block ?? "",
);

/**
 * The commands of docs/backup.md, as they stand there. All run in the folder with the files. `before`, `after`: the
 * installation of the service in the new cluster.
 */
export const backupCommands = { backup, before, after };
