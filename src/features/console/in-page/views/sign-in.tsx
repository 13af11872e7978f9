import { useState } from "preact/hooks";
import { wordsOf } from "../parts/notice.tsx";
import { signIn } from "../service/session.ts";

/** The page of a person who is not signed in. `reason`: why, where that needs words. */
export const SignIn = ({ reason }: { reason: string }) => {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState(reason);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await signIn({ api_key: key.trim() });
    } catch (error) {
      setProblem(wordsOf(error));
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>Browserpool</h1>
      <p>Sign in with an API key. It is sent once, and kept by neither this page nor this browser.</p>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <form onSubmit={submit}>
        <label>
          API key
          <input
            name="api_key"
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            required
            maxLength={256}
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
      </form>
      <p class="muted">
        No key? <code>browserpool open</code> opens this page for the key of your machine; who runs the service makes
        keys.
      </p>
    </main>
  );
};
