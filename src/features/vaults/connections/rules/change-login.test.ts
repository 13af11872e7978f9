import { describe, expect, test } from "vitest";
import { AppError } from "../../../../platform/base/errors.ts";
import { changedLogin, type Login, type LoginChange, noLogin, shapeOf } from "./change-login.ts";

const change = (before: Login, wanted: LoginChange): Login =>
  changedLogin(before, wanted, (value) => !value.startsWith("sealed"));
const login = (values: Record<string, string>, totpSecret?: string): Login => change(noLogin, { values, totpSecret });
const shown = ({ values, totpSecret }: Login): object => ({
  values: Object.fromEntries([...values].map(([name, value]) => [name, value.reveal()])),
  totpSecret: totpSecret?.reveal(),
});
const complaint = (work: () => unknown): AppError => {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error("it did not complain");
};

describe("a change", () => {
  const before = login({ user: "a", pass: "b" }, "JBSWY3DPEHPK3PXP");

  // CREDENTIAL-7
  test("adds and replaces values, and leaves the others", () =>
    expect(shown(change(before, { values: { pass: "c", pin: "" } }))).toEqual({
      values: { user: "a", pass: "c", pin: "" },
      totpSecret: "JBSWY3DPEHPK3PXP",
    }));

  // CREDENTIAL-8
  test("removes first, so that what is also given stays", () =>
    expect(shown(change(before, { removeValueKeys: ["user", "pass", "no"], values: { user: "n" } }))).toMatchObject({
      values: { user: "n" },
    }));

  // CREDENTIAL-9, CREDENTIAL-10
  test("replaces the TOTP secret in its bare form, and removes it by an empty one", () => {
    expect(shown(change(before, { totpSecret: "gezd gnbv" }))).toMatchObject({ totpSecret: "GEZDGNBV" });
    expect(change(before, { totpSecret: "" }).totpSecret).toBeUndefined();
  });

  test("of nothing is none", () => expect(shown(change(before, {}))).toEqual(shown(before)));
});

describe("a change is refused by the name of its field", () => {
  test.each<[LoginChange, string]>([
    [{ totpSecret: "canary!" }, "totp_secret"],
    [{ values: { pass: "sealed-canary" } }, "values.pass"],
    [{ values: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`v${i}`, "canary"])) }, "values"],
  ])("%#", (wanted, path) => {
    const error = complaint(() => change(noLogin, wanted));
    expect(error).toMatchObject({ code: "bad_request", details: [{ path }] });
    expect(JSON.stringify([error.message, error.details, error.cause])).not.toContain("canary");
  });

  test("when what is stored already makes it too many", () => {
    const full = login(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`v${i}`, "x"])));
    expect(complaint(() => change(full, { values: { more: "x" } })).details[0]?.path).toBe("values");
    expect(change(full, { values: { v1: "y" } }).values.size).toBe(50);
  });
});

test("what is empty or never listed is no value to fill", () =>
  expect(shapeOf(login({ user: "a", pin: "", totp_secret: "x" }))).toEqual({ valueNames: ["user"], hasTotp: false }));
