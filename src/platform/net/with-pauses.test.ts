import { expect, test } from "vitest";
import { pause, withPauses } from "./with-pauses.ts";

/** Items that this test gives one by one. */
const given = () => {
  const waiting: PromiseWithResolvers<string | undefined>[] = [];
  let isOver = false;
  const source = async function* (): AsyncGenerator<string> {
    try {
      for (;;) {
        const next = Promise.withResolvers<string | undefined>();
        waiting.push(next);
        const item = await next.promise;
        if (item === undefined) return;
        yield item;
      }
    } finally {
      isOver = true;
    }
  };
  return { source: source(), give: (item?: string) => waiting.shift()?.resolve(item), isOver: () => isOver };
};

test("no item is lost that comes after pauses, and each quiet time gives a pause", async () => {
  const { source, give } = given();
  const items = withPauses(source, 20, new AbortController().signal);
  for (const item of ["a", "b"]) {
    for (let n = 0; n < 2; n++) expect((await items.next()).value).toBe(pause);
    give(item);
    expect((await items.next()).value).toBe(item);
  }
  const end = items.next();
  give();
  expect((await end).done).toBe(true);
});

test("an abort ends it while its source waits, and the source ends when its wait is over", async () => {
  const { source, give, isOver } = given();
  const stop = new AbortController();
  const items = withPauses(source, 60_000, stop.signal);
  const next = items.next();
  await new Promise(setImmediate);
  stop.abort(new Error("we stop"));
  await expect(next).rejects.toThrow("we stop");
  give("too late");
  await expect.poll(isOver).toBe(true);
});
