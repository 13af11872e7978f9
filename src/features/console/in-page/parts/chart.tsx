/** Lines over time, as plain SVG: no more than a look at what was; Grafana is for history. */
import { exactTime, span } from "./time.tsx";

/** `tone`: a class of console.css that colours it; the form of its line tells it apart, too. */
type Series = { name: string; tone: "one" | "two" | "three" | "four"; values: readonly number[] };

const [width, height] = [600, 120];

const pathOf = (values: readonly number[], times: readonly number[], most: number): string => {
  const [first = 0, last = 1] = [times[0], times.at(-1)];
  const scale = Math.max(1, last - first);
  return values
    .map((value, index) => {
      const x = (((times[index] ?? first) - first) / scale) * width;
      const y = height - (value / most) * (height - 4) - 2;
      // A count stays as it was until it changes.
      return index === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `H${x.toFixed(1)}V${y.toFixed(1)}`;
    })
    .join("");
};

/** The series, whose values are of `times`, ms since 1970. */
export const Chart = ({
  label,
  times,
  series,
}: {
  label: string;
  times: readonly number[];
  series: readonly Series[];
}) => {
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const [first, last] = [times[0], times.at(-1)];
  const words = series.map(({ name, values }) => {
    const range = values.length === 0 ? "none" : `${Math.min(...values)} to ${Math.max(...values)}`;
    return `${name}: ${values.at(-1) ?? 0} now, ${range}`;
  });
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}. ${words.join(". ")}`}
      >
        {series.map(({ name, tone, values }) => (
          <path key={name} class={`line ${tone}`} d={pathOf(values, times, most)} vector-effect="non-scaling-stroke" />
        ))}
      </svg>
      <figcaption>
        <span class="legend">
          {series.map(({ name, tone, values }) => (
            <span key={name} class={`key ${tone}`}>
              {name} <b>{values.at(-1) ?? 0}</b>
            </span>
          ))}
        </span>
        <span class="muted">
          {first !== undefined && last !== undefined && last > first ? (
            <span title={`since ${exactTime(first)}, when this window opened`}>
              last {span(last - first)}, up to {most}
            </span>
          ) : (
            "Begins when this window has seen a change."
          )}
        </span>
      </figcaption>
    </figure>
  );
};
