/** A text as programs read it, which scrolls within its place. */
export const CodeBlock = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys
  <section class="code" tabIndex={0} aria-label={label}>
    <pre>{text}</pre>
  </section>
);
