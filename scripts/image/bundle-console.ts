/** `node scripts/image/bundle-console.ts`: writes what the console's pages load to where the api looks for it. */
import { writeFile } from "node:fs/promises";
import { bundleConsole } from "../../src/features/console/bundle-console.ts";
import { builtConsole } from "../../src/features/console/console-files.ts";

await writeFile(builtConsole, JSON.stringify(await bundleConsole()));
