import type { CreatedApiKey } from "../service/org.ts";
import { complain, say } from "./notice.tsx";
import { plainText } from "./text.tsx";

/** A key that was just made: the only time that anybody sees it. It is forgotten when it is closed. */
export const KeyShown = ({ made, close }: { made: CreatedApiKey; close: () => void }) => {
  const copy = (): void => {
    navigator.clipboard.writeText(made.key).then(() => say("Copied."), complain);
  };
  return (
    <section class="notice" aria-label="The new key">
      <h2 class="wrap">
        The key of <bdi>{plainText(made.name)}</bdi>
      </h2>
      <p>Copy it now: it is shown only this once, and nobody can read it later.</p>
      <p>
        <code class="wrap">{made.key}</code>
      </p>
      <div class="row">
        <button type="button" class="primary" onClick={copy}>
          Copy the key
        </button>
        <button type="button" onClick={close}>
          I have it
        </button>
      </div>
    </section>
  );
};
