import { expect, test } from "vitest";
import { CreateBrowser } from "./browser-wire.ts";

// PROFILE-7
test("a browser saves nothing to its profile unless it is asked to", () => {
  expect(CreateBrowser.parse({ profile: { name: "work" } }).profile).toEqual({ name: "work", save_changes: false });
});
