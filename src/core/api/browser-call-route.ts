import { basename } from "node:path";
import { z } from "zod";
import type { ErrorCode } from "../../platform/base/errors.ts";
import type { BytesBody } from "../http/middleware/stream-body.ts";
import { type Answer, type Method, type Route, routesWith } from "../http/route.ts";
import type { CallContract } from "../protocol/browser-call.ts";
import { type FindUsableDeps, findUsable } from "../sessions/authorize-session.ts";
import { type CallBrowserDeps, callBrowser } from "../sessions/call-browser.ts";
import type { FoundSession } from "../sessions/find-session.ts";

type Deps = CallBrowserDeps & FindUsableDeps;

/** What the documentation says of a call. `status`: of its answer. */
type About = {
  operationId: string;
  summary: string;
  description?: string;
  status?: 200 | 201 | 204;
  answer: string;
  errors?: ErrorCode[];
};

/**
 * Answers a call on a session that has ended. `isOn`: whether it does here; else such a session is not found. Throws
 * what the route may answer.
 */
export type EndedCall<More> = {
  isOn(deps: More): boolean;
  answer(
    found: FoundSession,
    given: { query: Record<string, string> },
    deps: More,
    signal: AbortSignal,
  ): Promise<Answer>;
};

const methods = { get: "GET", post: "POST", put: "PUT", delete: "DELETE" } as const satisfies Partial<
  Record<Method, string>
>;

/** What a call was given, checked. */
type Given = {
  params: Record<string, string>;
  query: Record<string, string> | undefined;
  body: unknown;
  bytes: BytesBody | undefined;
};

const pathTo = ({ name }: CallContract, { params, query }: Given): string => {
  const path = name.replace(/\{(\w+)\}/, (_all, param: string) => encodeURIComponent(params[param] ?? ""));
  return query ? `${path}?${new URLSearchParams(query)}` : path;
};

const paramsOf = ({ name }: CallContract): z.ZodObject => {
  const [, param] = /\{(\w+)\}/.exec(name) ?? [];
  return z.object({
    id_or_name: z.string().min(1).max(255).describe("The session's id or name."),
    ...(param !== undefined && { [param]: z.string().min(1).max(255) }),
  });
};

/**
 * The route of a call, at the API and below the session's `base_url`. `ended`: left out, it is for active sessions
 * alone.
 */
export const browserCallRoute = <More = unknown>(
  contract: CallContract,
  { operationId, summary, description, status = contract.answer ? 200 : 204, answer, errors = [] }: About,
  ended?: EndedCall<More>,
): Route<Deps & NoInfer<More>> => {
  const { method, name, query, body, upload, answerMs, answer: answered } = contract;
  const isFile = answered !== undefined && "files" in answered;
  const callOfSession: Route<Deps>["callOfSession"] = async (found, given: Given, deps, signal): Promise<Answer> => {
    const call = {
      method: methods[method],
      path: pathTo(contract, given),
      ...(body && { json: given.body }),
      ...given.bytes,
      ...(answerMs !== undefined && { answerMs }),
    };
    const exchanged = await callBrowser(found, call, deps, signal);
    if (exchanged.kind === "bytes") {
      const type = isFile ? answered.files : "application/octet-stream";
      const file = basename(given.query?.path ?? "file") || "file";
      const named = type === "application/zip" ? `${file}.zip` : file;
      return { status, file: { body: exchanged.bytes, bytes: exchanged.length, type, name: named } };
    }
    return answered && !isFile ? { status, body: (answered as z.ZodType).parse(exchanged.answer) } : { status };
  };
  const answers = {
    [status]: {
      description: answer,
      ...(isFile ? { files: [answered.files] } : answered && { schema: answered as z.ZodType }),
    },
  };
  return {
    ...routesWith<Deps & More>()(
      {
        method,
        path: `/browsers/{id_or_name}/${name}`,
        tag: "Browsers",
        scope: "project",
        permission: "browsers:use",
        operationId,
        summary,
        ...(description !== undefined && { description }),
        params: paramsOf(contract),
        ...(query && { query }),
        ...(body && { body }),
        ...(upload && { stream: upload }),
        answers,
        errors: ["bad_request", "not_found", "rate_limited", "unavailable", ...errors],
      },
      async ({ params, query: asked, body: json, bytes, baseUrl, project, principal, deps, signal }) => {
        const given = { params: params as Record<string, string>, query: asked as Given["query"], body: json, bytes };
        const includeEnded = ended?.isOn(deps) ?? false;
        const found = await findUsable(given.params.id_or_name ?? "", { project, principal, includeEnded }, deps);
        if (ended && found.lease.ended_at !== undefined)
          return ended.answer(found, { query: given.query ?? {} }, deps, signal);
        return callOfSession(found, { ...given, baseUrl }, deps, signal);
      },
    ),
    callOfSession,
  };
};
