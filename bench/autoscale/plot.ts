/** A trace as an SVG picture. */
import type { Moment, Trace } from "./trace.ts";

const width = 760;
const height = 260;
const left = 40;
const right = 24;
const top = 52;
const bottom = 36;

type Series = { label: string; color: string; fill?: boolean; value(moment: Moment): number };

/** The first is below the others. Colours that people with colour blindness tell apart. */
const series: readonly Series[] = [
  { label: "browsers up", color: "#cfd8dc", fill: true, value: ({ up }) => up },
  { label: "callers", color: "#0072b2", value: ({ callers }) => callers },
  { label: "callers who wait", color: "#cc79a7", value: ({ waiting }) => waiting },
  { label: "size of the pool", color: "#d55e00", value: ({ size }) => size },
];

const number = (value: number): string => String(Math.round(value * 10) / 10);

/** Steps: a value holds until the next one. */
const path = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, place) => (place === 0 ? `M${number(x)} ${number(y)}` : `H${number(x)}V${number(y)}`)).join("");

/** Distances of grid lines: at most eight of them. */
const stepOf = (most: number): number => [1, 2, 5, 10, 20, 50, 100].find((step) => most / step <= 8) ?? most;

const marks = (most: number): number[] => {
  const step = stepOf(most);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
};

const text = (x: number, y: number, words: string, more = ""): string =>
  `<text x="${number(x)}" y="${number(y)}" ${more}>${words}</text>`;

/** The whole file. */
export const plotTrace = ({ title, moments }: Trace): string => {
  const seconds = Math.max(1, ...moments.map(({ second }) => Math.ceil(second)));
  const most = Math.max(1, ...moments.flatMap((moment) => series.map(({ value }) => value(moment))));
  const x = (second: number): number => left + (second / seconds) * (width - left - right);
  const y = (count: number): number => height - bottom - (count / most) * (height - top - bottom);
  const floor = number(y(0));
  const rows = marks(most).flatMap((count) => [
    `<path d="M${left} ${number(y(count))}H${width - right}" stroke="#e0e0e0"/>`,
    text(left - 6, y(count) + 4, String(count), 'text-anchor="end"'),
  ]);
  const columns = marks(seconds).map((second) =>
    text(x(second), height - bottom + 16, `${second} s`, 'text-anchor="middle"'),
  );
  const drawn = series.map(({ color, fill, value }) => {
    const line = path(moments.map((moment) => ({ x: x(moment.second), y: y(value(moment)) })));
    return fill
      ? `<path d="${line}V${floor}H${number(x(moments[0]?.second ?? 0))}Z" fill="${color}"/>`
      : `<path d="${line}" fill="none" stroke="${color}" stroke-width="2"/>`;
  });
  const legend = series.flatMap(({ label, color }, place) => [
    `<rect x="${left + place * 170}" y="28" width="14" height="10" fill="${color}"/>`,
    text(left + 20 + place * 170, 37, label),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(left, 18, title, 'font-size="14" font-weight="bold"'),
    ...legend,
    ...rows,
    ...drawn,
    ...columns,
    "</svg>",
    "",
  ].join("\n");
};
