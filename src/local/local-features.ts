import { totalmem } from "node:os";
import { mayUnshare } from "../process/may-unshare.ts";

const gib = 2 ** 30;

/**
 * What browsers on this machine can be given, as BROWSERPOOL_BROWSER_FEATURES names it; tried out. A browser here may use the memory that
 * the machine has. GPUs are not looked for.
 */
export const localFeatures = async (): Promise<string[]> => {
  const [network, mount] = await Promise.all([mayUnshare("net"), mayUnshare("mount")]);
  return [
    ...(network ? ["network"] : []),
    ...(mount ? ["chrome_policy"] : []),
    ...(totalmem() >= 16 * gib ? ["memory_16GiB"] : []),
  ];
};
