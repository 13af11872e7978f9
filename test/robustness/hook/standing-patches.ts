import { killPointPatches } from "./kill-points.ts";
import { quickLeadPatches } from "./quick-lead.ts";
import type { SourcePatch } from "./source-patch.ts";

/** Scripts are read by the product's own loader, which hands each text through the hook (register.ts). */
const scriptPatches: SourcePatch[] = [
  {
    file: "platform/redis/script.ts",
    find: 'readFileSync(url, "utf8");',
    replace: '(globalThis as any).browserpoolTestHook.lua(url.href, readFileSync(url, "utf8"));',
  },
  {
    file: "platform/redis/script.ts",
    find: 'const sha = createHash("sha1").update(text).digest("hex");',
    replace: `const sent = (globalThis as any).browserpoolTestHook.script(name, text);
      const sha = createHash("sha1").update(sent).digest("hex");`,
  },
  {
    file: "platform/redis/script.ts",
    find: "return { name, text, sha };",
    replace: "return { name, text: sent, sha };",
  },
];

/** What every process with the hook runs with. */
export const standingPatches: readonly SourcePatch[] = [...scriptPatches, ...killPointPatches, ...quickLeadPatches];
