import type { ComponentChildren } from "preact";

/** How an object stands: its state, and beside it why, and what to do. */
export const Stand = ({ state, children }: { state: ComponentChildren; children?: ComponentChildren }) => (
  <p class="stand wrap">
    {state} <span>{children}</span>
  </p>
);
