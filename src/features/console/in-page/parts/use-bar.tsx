import type { Use } from "../service/org.ts";
import { ShareBar } from "./share-bar.tsx";

/** How much of a limit is used, as a bar with its numbers beside it. `most`: null for no limit. */
export const UseBar = ({ label, use, most }: { label: string; use: Partial<Use>; most: number | null }) => {
  const parts = [
    { tone: "accent", count: use.pooled ?? 0, word: "in pools" },
    { tone: "good", count: use.onDemand ?? 0, word: "on demand" },
  ] as const;
  const shown = parts.filter(({ word }) => (word === "in pools" ? use.pooled : use.onDemand) !== undefined);
  const used = shown.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="use">
      <p>
        <span>{label}</span>
        <span class="number">
          <b>{used.toLocaleString("en")}</b> {most === null ? "(no limit)" : `of ${most.toLocaleString("en")}`}
        </span>
      </p>
      {most !== null && <ShareBar label={label} parts={shown} whole={most} />}
    </div>
  );
};
