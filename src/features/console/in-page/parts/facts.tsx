import type { ComponentChildren } from "preact";

/** What is known of an object: a name and a value each; one without a value is left out. */
type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** The facts, as many beside each other as there is room for. */
export const Facts = ({ of }: { of: readonly (Fact | undefined | false)[] }) => (
  <dl class="facts">
    {of.map((fact, index) =>
      fact ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: facts have a fixed order
        <div key={index}>
          <dt>{fact[0]}</dt>
          <dd>{fact[1]}</dd>
        </div>
      ) : null,
    )}
  </dl>
);
