import type { Feature } from "../../core/api/feature.ts";
import { mountWebDriver } from "./mount-webdriver.ts";

/** WebDriver over HTTP. Its other half, WebDriver BiDi, is a WebSocket of the gateway. */
export const webDriver = {
  mount: mountWebDriver,
} satisfies Feature;
