import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Feature } from "../../core/api/feature.ts";
import { curl as curlCall } from "./calls.ts";

/** Requests that a session's browser sends for its holder. */
export const curl = {
  routes: [
    browserCallRoute(curlCall, {
      operationId: "sendRequest",
      summary: "Send a request by a session's browser",
      description:
        "With its cookies, its proxy and its network rules, as a page of the same site would send it. Redirects are followed.",
      answer: "The last response",
      errors: ["conflict", "payload_too_large"],
    }),
  ],
} satisfies Feature;
