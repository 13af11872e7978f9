/** Routers by the first part of a path answer as one app with all routes does. */
import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import express, { type Express, type IRouter } from "express";
import { expect, test } from "vitest";
import { createPartRouters } from "../../../src/core/http/part-routers.ts";

const paths = ["/pools", "/pools/:id", "/pools/:id/acquire", "/poolside", "/org/keys/:id"];

const mount = (at: (path: string) => IRouter): void => {
  for (const path of paths) {
    at(path).get(path, (request, response) => {
      if (request.params.id === "broken") throw new Error("broken");
      response.json({ path, params: request.params, base: request.baseUrl, query: request.query });
    });
  }
  for (const path of paths)
    at(path).all(path, (request, response) => {
      response.status(405).json({ path, method: request.method });
    });
};

const appWith = (mountRoutes: (app: Express) => void): Express => {
  const app = express();
  mountRoutes(app);
  app.get("/pools/:id/of-a-feature", (_request, response) => void response.json("feature"));
  app.use((request, response) => void response.status(404).json(request.path));
  app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status((error as { status?: number }).status ?? 500).json(error.message);
  });
  return app;
};

/** What an app answers to each of these requests. */
const answers = async (app: Express, asked: readonly (readonly [string, string])[]): Promise<unknown[]> => {
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const told: unknown[] = [];
  for (const [method, path] of asked) {
    const request = send({ host: "127.0.0.1", port, method, path, agent: false }).end();
    const [response] = await once(request, "response");
    told.push([method, path, response.statusCode, response.headers.allow, await text(response)]);
  }
  server.close();
  return told;
};

const targets = [
  ...["/pools", "/pools/", "/POOLS", "/Pools/A/Acquire/", "/pools?a=1", "/pools/a%2Fb", "/pools/%zz", "/pools/broken"],
  ...[
    "/pool",
    "/poolside",
    "/poolside/x",
    "//pools",
    "/",
    "/%70ools",
    "/pools/a/b/c",
    "/pools//acquire",
    "/org",
    "/ORG/keys/1",
  ],
  ...[
    "http://elsewhere.example/pools/a",
    "http://elsewhere.example",
    "/pools/a/of-a-feature",
    "/pools;x=1",
    "/constructor",
    "*",
  ],
];

test("whatever the path and the method: the same answer", async () => {
  const asked = targets.flatMap((path) =>
    ["GET", "HEAD", "POST", "OPTIONS", "DELETE"].map((method) => [method, path] as const),
  );
  const parts = createPartRouters();
  mount(parts.at);
  const byParts = await answers(
    appWith((app) => app.use(parts.serve)),
    asked,
  );
  expect(byParts).toEqual(
    await answers(
      appWith((app) => mount(() => app)),
      asked,
    ),
  );
  expect(byParts).toHaveLength(targets.length * 5);
});
