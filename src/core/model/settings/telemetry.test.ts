import { expect, test } from "vitest";
import { Telemetry, telemetryCategories } from "./telemetry.ts";

// TELEMETRY-1
test("there are ten categories, and each can be set", () => {
  const categories = [
    "captcha",
    "connection",
    "console",
    "control",
    "interaction",
    "network",
    "page",
    "platform",
    "screenshot",
    "system",
  ];
  expect(telemetryCategories).toEqual(categories);
  const browser = Object.fromEntries(categories.map((name) => [name, { enabled: true }]));
  expect(Telemetry.parse({ browser })).toEqual({ browser });
});
