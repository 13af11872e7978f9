import { describe, expect, test } from "vitest";
import { fieldsOf, type ItemSource, type ItemState, itemState } from "./item-state.ts";

const stored = (valueNames: string[], hasTotp = false): ItemSource => ({
  is: "stored",
  login: { valueNames, hasTotp },
});
const unavailable = (reason: string): object => ({ status: "unavailable", reason });
const text = { type: "text" };

/** Each row is a situation in which an item is read, and what it is then. */
const situations: [string, ItemSource, object][] = [
  ["saved values", stored(["user"]), { status: "ready", fields: { user: text } }],
  ["a TOTP secret alone", stored([], true), { status: "ready", fields: { totp: { type: "totp" } } }],
  ["no credential", { is: "noCredential" }, unavailable("no_credential")],
  ["an emptied credential", stored([]), unavailable("no_credential")],
  ["nothing but values that are never listed", stored(["totp_secret", "totp"]), unavailable("no_credential")],
  ["an external credential", { is: "external" }, unavailable("external_credential")],
  ["no connection", { is: "connectionGone" }, unavailable("connection_not_found")],
];

// ITEM-9, ITEM-10, ITEM-15, ITEM-20
describe("an item whose connection leads to", () => {
  test.each(situations)("%s", (_name, source, state) => expect(itemState(source)).toEqual(state));
});

// ITEM-9, ITEM-14
describe("the state of a moment depends on nothing before it, so that every transition is possible", () => {
  const pairs = situations.flatMap(([from, before]) =>
    situations.map(([to, after, state]): [string, string, ItemSource[], object] => [from, to, [before, after], state]),
  );
  test.each(pairs)("from %s to %s", (_from, _to, sources, state) => {
    const states: ItemState[] = sources.map(itemState);
    expect(states[1]).toEqual(state);
  });
});

// ITEM-17, ITEM-18, ITEM-19, ITEM-20, FILL-10
test("fields have the type that their name tells, and a TOTP secret is the field totp", () =>
  expect(
    fieldsOf({
      valueNames: [
        "username",
        "Email",
        "login_email",
        "PASSWORD",
        "old-Passwd",
        "email_password",
        "totp_secret",
        "pin",
      ],
      hasTotp: true,
    }),
  ).toEqual({
    username: text,
    Email: { type: "email" },
    login_email: { type: "email" },
    PASSWORD: { type: "password" },
    "old-Passwd": { type: "password" },
    email_password: { type: "password" },
    pin: text,
    totp: { type: "totp" },
  }));

// ITEM-19, ITEM-20
test("a value that is named totp is no field, with and without a TOTP secret; other spellings are", () => {
  const valueNames = ["totp", "TOTP", "totp_secret", "totp-code"];
  const others = { TOTP: text, "totp-code": text };
  expect(fieldsOf({ valueNames, hasTotp: false })).toEqual(others);
  expect(fieldsOf({ valueNames, hasTotp: true })).toEqual({ ...others, totp: { type: "totp" } });
  expect(fieldsOf({ valueNames: ["totp"], hasTotp: true })).toEqual({ totp: { type: "totp" } });
});

test("a value may have the name of something that every object has", () => {
  const fields = fieldsOf({ valueNames: ["__proto__", "constructor"], hasTotp: false });
  expect(Object.keys(fields)).toEqual(["__proto__", "constructor"]);
});
