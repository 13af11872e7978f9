import { z } from "zod";
import { Paging, pageOf } from "../../../core/http/paging.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ExportResults } from "../export-state.ts";
import {
  createDestination,
  deleteDestination,
  describeDestination,
  fetchDestination,
  listDestinations,
} from "./destinations.ts";
import {
  CreateTelemetryDestination,
  TelemetryDestinationAnswer,
  UpdateTelemetryDestination,
} from "./telemetry-destination.ts";
import { updateDestination } from "./update-destination.ts";

type Deps = {
  destinationFilter: NetworkFilter;
  exportResults: ExportResults;
  kube: Kube;
  locks: Locks;
  secretsKeys: SecretsKeys;
  store: LeaseStore;
};
const defineRoute = routesWith<Deps>();

const tag = "Telemetry";
const scope = "project";
const path = "/telemetry/destinations/{id_or_name}";

const Params = z.object({ id_or_name: z.string().min(1).max(255).describe("The destination's id or name.") });
const Answer = {
  description: "The destination, without the values of its headers",
  schema: TelemetryDestinationAnswer,
};

export const createTelemetryDestinationRoute = defineRoute(
  {
    method: "post",
    path: "/telemetry/destinations",
    operationId: "createTelemetryDestination",
    tag,
    scope,
    permission: "pools:write",
    summary: "Create a telemetry destination",
    body: CreateTelemetryDestination,
    examples: {
      body: {
        name: "backend",
        endpoint: "https://otlp.example.com",
        headers: { Authorization: "Bearer change-me" },
      },
    },
    answers: { 201: Answer },
    errors: ["bad_request", "name_taken", "conflict"],
  },
  async ({ body, project, deps }) => ({ status: 201, body: await createDestination(body, project, deps) }),
);

export const listTelemetryDestinationsRoute = defineRoute(
  {
    method: "get",
    path: "/telemetry/destinations",
    operationId: "listTelemetryDestinations",
    tag,
    scope,
    permission: "pools:read",
    summary: "List telemetry destinations",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the one of this name, in any case."),
      query: z.string().max(255).optional().describe("Part of the name or endpoint in any case, or the exact id."),
    }),
    answers: {
      200: {
        description: "The destinations, without the values of headers",
        schema: z.array(TelemetryDestinationAnswer),
      },
    },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const page = pageOf(await listDestinations(query, project, deps), query);
    return { ...page, body: await Promise.all(page.body.map((destination) => describeDestination(destination, deps))) };
  },
);

export const getTelemetryDestinationRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getTelemetryDestination",
    tag,
    scope,
    permission: "pools:read",
    summary: "Get a telemetry destination",
    params: Params,
    answers: { 200: Answer },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: await describeDestination(await fetchDestination(params.id_or_name, project, deps), deps),
  }),
);

export const updateTelemetryDestinationRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateTelemetryDestination",
    tag,
    scope,
    permission: "pools:write",
    summary: "Change a telemetry destination; headers are merged",
    params: Params,
    body: UpdateTelemetryDestination,
    answers: { 200: Answer },
    errors: ["bad_request", "not_found", "name_taken", "conflict"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: await updateDestination({ idOrName: params.id_or_name, request: body }, project, deps),
  }),
);

export const deleteTelemetryDestinationRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteTelemetryDestination",
    tag,
    scope,
    permission: "pools:write",
    summary: "Delete a telemetry destination and its headers",
    params: Params,
    answers: { 204: { description: "Done" } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, project, deps }) => {
    await deleteDestination(params.id_or_name, project, deps);
    return { status: 204 };
  },
);
