/**
 * The policy of an object as lists show it. A page has up to a hundred objects, each with a policy of up to 5 MiB, so a list leaves out a
 * large one; an answer about the object alone has it (LIMIT-34).
 */
import type { ChromePolicy } from "./policy-parts.ts";

/** Largest policy in a list, bytes of JSON: a hundred of them fit into one answer. */
const maxListedPolicyBytes = 16 * 1024;

/** The policy, or undefined for a large one. */
export const listedPolicy = (policy: ChromePolicy | undefined): ChromePolicy | undefined =>
  policy && Buffer.byteLength(JSON.stringify(policy)) > maxListedPolicyBytes ? undefined : policy;
