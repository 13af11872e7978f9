import type { ComponentChildren } from "preact";
import type { Fetched } from "../service/use-fetched.ts";
import { Problem, wordsOf } from "./notice.tsx";
import { Reading } from "./reading.tsx";
import { Time } from "./time.tsx";

/** What was read, or that it is being read, or why not. What is known stays when a later reading fails. */
export const Show = <T,>({ fetched, children }: { fetched: Fetched<T>; children: (data: T) => ComponentChildren }) => {
  const { data, error, readAt, again } = fetched;
  if (data === undefined)
    return error === undefined ? (
      <Reading />
    ) : (
      <>
        <Problem error={error} />
        <button type="button" onClick={again}>
          Try again
        </button>
      </>
    );
  return (
    <>
      {error !== undefined && (
        <p class="stale" role="status">
          This is as it was <Time at={readAt} />: {wordsOf(error)}
        </p>
      )}
      {children(data)}
    </>
  );
};
