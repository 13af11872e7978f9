import type { Run } from "../../scripts/image/substitutes/substitute-images.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { Draw } from "../support/draw.ts";
import type { Stack } from "../support/stack.ts";
import type { Check } from "./report.ts";

/** The release and where it is; the chart's own names follow from it. */
export const release = "browserpool";
export const systemNamespace = "browserpool-system";
export const projectNamespace = "browserpool-default";
export const trialsNamespace = "browserpool-registry";

export type { Run };

/** Of an environment. */
export type Variables = Record<string, string | undefined>;

export type Cluster = {
  kubeconfig: string;
  /** Its name in kind; undefined for a cluster of another make, whose nodes can't be stopped and changed from here. */
  kindName: string | undefined;
};

export type Images = {
  /** `browserpool`, or what stands before it in a registry. */
  prefix: string;
  tag: string;
  /** The same images under another tag: what an upgrade comes from. */
  previousTag: string;
};

/** All that a phase of the suite works with. */
export type Lane = {
  cluster: Cluster;
  images: Images;
  run: Run;
  kubectl(...args: string[]): Promise<string>;
  /** With the rights of the cluster's administrator. */
  kube: Kube;
  /** The installed service. */
  stack: Stack;
  /** File with `stack`'s address, for tests in processes of their own. */
  addressFile: string;
  /** Of the end-to-end files; left out, all of them run. */
  draw: Draw | undefined;
  /** Shortest time that the scripts of users run under a change. */
  scriptSeconds: number;
  /** Of the images of releases, in docker's words. */
  platforms: readonly string[];
  /** Folder of this run; it goes with it. */
  folder: string;
  signal: AbortSignal;
};

/** A part of the suite. Leaves the release as it found it, apart from what its summary says. */
export type Phase = {
  name: string;
  summary: string;
  run(lane: Lane, check: Check): Promise<void>;
};
