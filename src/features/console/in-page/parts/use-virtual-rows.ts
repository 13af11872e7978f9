import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows beyond the edges that are drawn too, so that scrolling shows no gaps. */
const overscan = 12;

type Rows = { items: VirtualItem[]; totalSize: number; scrollTo: (index: number) => void };

/**
 * Which of so many rows are drawn: those in the sight of `scroller`, and the row `kept`, which has the focus. All rows
 * have the same height, in rem.
 */
export const useVirtualRows = (
  count: number,
  scroller: RefObject<HTMLElement | null>,
  { rowRem, kept }: { rowRem: number; kept: number | undefined },
): Rows => {
  const [, redraw] = useState(0);
  const rowPx = rowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const rangeExtractor = (range: Range): number[] => {
    const indexes = defaultRangeExtractor(range);
    if (kept === undefined || kept >= count || indexes.includes(kept)) return indexes;
    return [...indexes, kept].sort((a, b) => a - b);
  };
  const options = {
    count,
    overscan,
    // The head of the table stands above the rows and takes about as much room as one.
    scrollPaddingEnd: rowPx,
    rangeExtractor,
    estimateSize: () => rowPx,
    getScrollElement: () => scroller.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll<HTMLElement>,
    onChange: () => redraw((round) => round + 1),
  };
  const made = useRef<Virtualizer<HTMLElement, HTMLElement>>(undefined);
  made.current ??= new Virtualizer<HTMLElement, HTMLElement>(options);
  const virtualizer = made.current;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items: virtualizer.getVirtualItems(),
    totalSize: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
};
