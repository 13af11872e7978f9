import { expect, test } from "vitest";
import { withRelease } from "./support-page.ts";

const head = "| version | released | gets fixes until | Kubernetes |\n|---|---|---|---|\n";
const open = "three months after the next minor release";
const first = `${head}| 0.1 | not yet | ${open} | 1.30 to 1.37 |\n`;
const released = `${head}| 0.1 | 2026-01-02 | ${open} | 1.30 to 1.37 |\n`;

test("the first release of a minor version gets its date, and patches change nothing", () => {
  expect(withRelease(first, { version: "0.1.0", date: "2026-01-02" })).toBe(released);
  expect(withRelease(released, { version: "0.1.1", date: "2026-01-09" })).toBe(released);
});

test("the next minor version ends the time of the one before it, and of no older one", () => {
  const second = withRelease(released, { version: "0.2.0", date: "2026-11-30" });
  expect(second).toBe(
    `${head}| 0.2 | 2026-11-30 | ${open} | 1.30 to 1.37 |\n| 0.1 | 2026-01-02 | 2027-02-28 | 1.30 to 1.37 |\n`,
  );
  expect(withRelease(second, { version: "1.0.0", date: "2027-02-01" })).toBe(
    `${head}| 1.0 | 2027-02-01 | ${open} | 1.30 to 1.37 |\n| 0.2 | 2026-11-30 | 2027-05-01 | 1.30 to 1.37 |\n` +
      "| 0.1 | 2026-01-02 | 2027-02-28 | 1.30 to 1.37 |\n",
  );
});

test("a page without a release is an error", () =>
  expect(() => withRelease(head, { version: "0.1.0", date: "2026-01-02" })).toThrow("no row"));
