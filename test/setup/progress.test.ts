import { expect, test } from "vitest";
import { createProgress, inWords } from "../../scripts/setup/progress.mjs";

/** Collects the output; `until` resolves as soon as it contains `text`. */
const recorder = (isTTY: boolean) => {
  let written = "";
  const watchers = new Set<() => void>();
  const write = (text: string): void => {
    written += text;
    for (const watch of watchers) watch();
  };
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      watchers.add(() => written.includes(text) && resolve());
    });
  return { output: { isTTY, columns: 60, write }, until, text: () => written };
};

test("without a terminal it prints plain lines: what begins, that it still runs, how it ended", async () => {
  const { output, until, text } = recorder(false);
  const progress = createProgress(output, { reminderEveryMs: 5 });
  const work = () => until("still building etcd").then(() => "made");
  expect(await progress.step({ title: "building etcd" }, work)).toBe("made");
  expect(text()).toMatch(
    /^setup: building etcd …\n(setup: still building etcd, \d+ s\n)+setup: building etcd: done in \d+ s\n$/,
  );
});

test("on a terminal it redraws one line, never wider than the terminal", async () => {
  const { output, until, text } = recorder(true);
  const title = `building ${"x".repeat(80)}`;
  await createProgress(output).step({ title }, () => until("⠙"));
  const pictures = text().split("\r\u001b[K").slice(1, -1);
  expect(pictures.length).toBeGreaterThan(1);
  expect(pictures.every((picture) => picture.length < 60)).toBe(true);
  expect(text().match(/\n/g)).toHaveLength(1);
});

test.each([true, false])("steps that run beside each other are shown together (terminal: %s)", async (isTTY) => {
  const { output, until, text } = recorder(isTTY);
  const progress = createProgress(output, { reminderEveryMs: 5 });
  const both = until("a, 0 s · b, 0 s");
  await Promise.all([progress.step({ title: "a" }, () => both), progress.step({ title: "b" }, () => both)]);
  expect(text()).toContain("a: done in 0 s\n");
  expect(text()).toContain("b: done in 0 s\n");
});

test.each([
  [0, "0 s"],
  [40, "40 s"],
  [60, "1 min"],
  [195, "3 min 15 s"],
])("%i s are %s", (seconds, words) => expect(inWords(seconds)).toBe(words));

test("a step that fails is shown as stopped, and its error is passed on", async () => {
  const { output, text } = recorder(false);
  const step = createProgress(output).step({ title: "building" }, () => Promise.reject(new Error("no")));
  await expect(step).rejects.toThrow("no");
  expect(text()).toMatch(/stopped after 0 s\n$/);
});
