import { expect, test } from "vitest";
import { refusedByHeader } from "../../../platform/addresses/network-filter.ts";
import { wallError } from "./wall-error.ts";

test("only the wall's own words are an error: a site can send the header, too", () => {
  expect(wallError({ [refusedByHeader]: "host" })).toBe("ERR_ADDRESS_UNREACHABLE");
  for (const value of ["", "constructor", "toString", "__proto__", "Host"])
    expect(wallError({ [refusedByHeader]: value }), value).toBeUndefined();
});
