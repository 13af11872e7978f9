/**
 * All routes of the agent's HTTP API, with their methods; agent-api.ts and its neighbours say what they do. The agent's
 * handlers have this table as their type, so there is no route outside of it. Each has recorded examples in
 * test/contracts/agent.
 */

/** Path → methods. A path that ends with `/` stands for all paths below it. */
export const agentRoutes = {
  "/livez": ["GET"],
  "/readyz": ["GET"],
  "/setup": ["PUT"],
  "/start": ["PUT"],
  "/archives/": ["PUT"],
  "/state": ["GET"],
  "/lease": ["PUT", "DELETE"],
  "/reset": ["GET"],
  "/change": ["PUT"],
  "/telemetry": ["GET", "PUT"],
  "/masks": ["PUT"],
  "/logs": ["GET"],
  "/files": ["GET", "DELETE"],
  "/replays/": ["PUT", "GET", "DELETE"],
  "/profile": ["GET", "DELETE"],
  "/profile/archive": ["GET"],
  "/calls/": ["GET", "POST", "PUT", "DELETE"],
  "/watches/": ["GET"],
  "/processes/": ["GET"],
  "/cdp": ["GET"],
  "/webdriver": ["GET"],
  "/view": ["GET"],
} as const;

/** What every route of the table has, or has not. */
export type ForRoutes<Value> = {
  [Path in keyof typeof agentRoutes]?: { [Method in (typeof agentRoutes)[Path][number]]?: Value };
};
