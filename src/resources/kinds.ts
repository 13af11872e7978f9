import { browserKind } from "./browser.ts";
import { browserPoolKind } from "./browser-pool.ts";
import type { Kind } from "./kind.ts";

/** Every kind of the project, in the order in which their CRDs are installed. */
export const kinds: Kind[] = [browserPoolKind, browserKind];
