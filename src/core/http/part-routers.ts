/**
 * Routers by the first part of a path. Express compares a request with each path that it was told of, one after
 * another: 160 routes cost a request as much as all else that Express does for it. So a request meets the routes of its
 * own part alone, in the order in which they were added.
 */
import { type RequestHandler, Router } from "express";

/** In any case of letters, as Express compares paths. */
const partOf = (path: string): string => path.split("/", 2).at(1)?.toLowerCase() ?? "";

/**
 * `at`: the router for a path, whose first part has no parameter. `serve`: what lets a request meet its router. Every
 * path of a router must answer all methods: to OPTIONS Express itself would answer otherwise.
 */
export const createPartRouters = (): { at(path: string): Router; serve: RequestHandler } => {
  const routers = new Map<string, Router>();
  return {
    at(path) {
      const part = partOf(path);
      const router = routers.get(part) ?? Router();
      routers.set(part, router);
      return router;
    },
    serve(request, response, next) {
      const router = routers.get(partOf(request.path));
      if (router) router(request, response, next);
      else next();
    },
  };
};
