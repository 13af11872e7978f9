import type { Feature } from "../../core/api/feature.ts";
import { mountConsole } from "./mount-console.ts";

/** The pages in which people see and change what the service has. */
export const console = {
  mount: mountConsole,
} satisfies Feature;
