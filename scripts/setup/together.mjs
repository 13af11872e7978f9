/**
 * Runs these lanes beside each other. When one fails, the others are stopped, and its error is thrown once all have
 * ended. Throws the signal's reason when that is aborted.
 * @param {AbortSignal} signal
 * @param {readonly ((signal: AbortSignal) => Promise<unknown>)[]} lanes each stops by the signal that it is given
 */
export const together = async (signal, lanes) => {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  /** @type {unknown[]} */
  const errors = [];
  await Promise.all(
    lanes.map((lane) =>
      lane(either).catch((error) => {
        errors.push(error);
        stop.abort(new Error("another step has failed"));
      }),
    ),
  );
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
};
