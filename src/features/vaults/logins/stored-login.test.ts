import { expect, test } from "vitest";
import { totpEntry } from "../credentials/credential.ts";
import { entryOf, nameOf } from "./stored-login.ts";

test.each(["username", "e-mail.2", "_x", "A"])("%s is an entry as it is", (name) => {
  expect(entryOf(name)).toBe(name);
  expect(nameOf(name)).toBe(name);
});

test.each(["login[password]", "Kunden Nr.", "пароль", "..", ".hidden", "x-ray", totpEntry, "é".repeat(64)])(
  "%s becomes an entry that Kubernetes takes, and is read back",
  (name) => {
    const entry = entryOf(name);
    expect(entry).toMatch(/^x-[A-Za-z0-9_-]{1,251}$/);
    expect(nameOf(entry)).toBe(name);
  },
);
