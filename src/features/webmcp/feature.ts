import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Feature } from "../../core/api/feature.ts";
import { addCustomTools, invokeTool, listCustomTools, listTools, removeCustomTool } from "./calls.ts";

/** The tools that pages offer to agents, for the holder of their browser. */
export const webmcp = {
  routes: [
    browserCallRoute(listTools, {
      operationId: "listWebmcpTools",
      summary: "List the tools of a browser's pages",
      description: "Those that its open pages and their frames have registered, and the custom tools that match them.",
      answer: "The tools, newest tab last",
      errors: ["not_supported_here"],
    }),
    browserCallRoute(invokeTool, {
      operationId: "invokeWebmcpTool",
      summary: "Invoke a tool of a page",
      answer: "What came of it; a tool that fails is status `error`",
      errors: ["not_supported_here", "payload_too_large"],
    }),
    browserCallRoute(listCustomTools, {
      operationId: "listCustomTools",
      summary: "List the custom tools of a session",
      answer: "The tools, in the order in which they were added",
    }),
    browserCallRoute(addCustomTools, {
      operationId: "addCustomTools",
      summary: "Add custom tools to a session",
      description: "All or none. They are gone with the session.",
      answer: "All custom tools of the session",
      errors: ["not_supported_here", "conflict"],
    }),
    browserCallRoute(removeCustomTool, {
      operationId: "removeCustomTool",
      summary: "Remove a custom tool of a session",
      answer: "It is gone",
    }),
  ],
} satisfies Feature;
