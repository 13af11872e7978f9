/** The SDK's operations for a login that the service does itself: `submit`, `follow` and `timeline`. */
import { z } from "zod";
import { Paging, pageOf } from "../../../core/http/paging.ts";
import { type Route, routesWith } from "../../../core/http/route.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import type { SessionAnswerDeps } from "../../../core/sessions/session-answer.ts";
import { closedObject } from "../../../platform/kinds/document-rules.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { CredentialValues } from "../credentials/credential.ts";
import { TimelineEvent, timelineTypes } from "../own-logins/flow.ts";
import { FlowEvent } from "../own-logins/flow-answer.ts";
import { followLogin } from "../own-logins/follow-login.ts";
import type { OwnLogins } from "../own-logins/own-logins.ts";
import { fetchConnection } from "./connections.ts";

type Deps = SessionAnswerDeps & FindSessionDeps & { kube: Kube; ownLogins: OwnLogins };
const defineRoute = routesWith<Deps>();

const tag = "Auth connections";
const scope = "project";

const ConnectionParams = z.object({ id: z.string().min(1).max(253).describe("The connection's id.") });

const SubmitLogin = closedObject(
  z.strictObject({
    interaction_id: z
      .string()
      .max(64)
      .optional()
      .describe("That of the connection's answer. Needed with field_values and selected_choice_id."),
    field_values: CredentialValues.optional().describe("Values by the ids of the awaited fields."),
    fields: CredentialValues.optional().describe("The same by their names, as older clients send them."),
    selected_choice_id: z.string().max(64).optional().describe("The id of the choice to take."),
    mfa_option_id: z.string().max(64).optional().describe("The type of the choice to take, as older clients send it."),
    sso_provider: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("The provider of one of pending_sso_buttons, to log in there."),
    sso_button_selector: z.string().min(1).max(2000).optional().describe("The same by the button's selector."),
  }),
);

const submitRoute = defineRoute(
  {
    method: "post",
    path: "/auth/connections/{id}/submit",
    operationId: "submitAuthConnection",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Give a login the values or the choice that it waits for",
    description:
      "The values are typed into the page and, after a success, saved as the connection's credential unless it disables that. One-time codes are never saved.",
    params: ConnectionParams,
    body: SubmitLogin,
    examples: { body: { interaction_id: "4f1d6c0b2a9e8d7c6b5a4f3e", field_values: { code: "123456" } } },
    answers: { 200: { description: "It was taken", schema: z.object({ accepted: z.literal(true) }) } },
    errors: ["bad_request", "not_supported_here", "not_found", "conflict", "unavailable"],
  },
  async ({ params, body, project, deps }) => {
    const connection = await fetchConnection(params.id, project, deps);
    await deps.ownLogins.submit(connection, project, {
      interactionId: body.interaction_id,
      values: body.field_values,
      olderValues: body.fields,
      choiceId: body.selected_choice_id,
      factor: body.mfa_option_id,
      ssoProvider: body.sso_provider,
      ssoSelector: body.sso_button_selector,
    });
    return { status: 200, body: { accepted: true } };
  },
);

const followRoute = defineRoute(
  {
    method: "get",
    path: "/auth/connections/{id}/events",
    operationId: "followAuthConnection",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Follow the login of a connection until it is over",
    params: ConnectionParams,
    answers: { 200: { description: "The state of the login now and at each change", events: FlowEvent } },
    errors: ["not_found", "conflict", "unavailable"],
  },
  async ({ params, project, principal, baseUrl, deps, signal }) => {
    const connection = await fetchConnection(params.id, project, deps);
    return { status: 200, events: await followLogin(connection, { project, principal, baseUrl }, deps, signal) };
  },
);

const timelineRoute = defineRoute(
  {
    method: "get",
    path: "/auth/connections/{id}/timeline",
    operationId: "listAuthConnectionTimeline",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List the logins and checks of a connection, newest first",
    params: ConnectionParams,
    query: Paging.extend({ type: z.enum(timelineTypes).optional().describe("Only these.") }),
    answers: { 200: { description: "The newest two hundred of the last month", schema: z.array(TimelineEvent) } },
    errors: ["bad_request", "not_found", "unavailable"],
  },
  async ({ params, query: { type, ...paging }, project, deps }) => {
    const { metadata } = await fetchConnection(params.id, project, deps);
    const events = await deps.ownLogins.flows.timeline(metadata.uid);
    return pageOf(
      events.filter((event) => type === undefined || event.type === type),
      paging,
    );
  },
);

/** `submit`, `follow` and `timeline` of the SDK. */
export const connectionFlowRoutes: Route<Deps>[] = [submitRoute, followRoute, timelineRoute];
