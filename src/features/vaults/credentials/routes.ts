import { z } from "zod";
import { Paging, pageOf } from "../../../core/http/paging.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { CreateCredential, CredentialAnswer, TotpCodeAnswer, UpdateCredential } from "./credential.ts";
import {
  createCredential,
  credentialAnswer,
  deleteCredential,
  fetchCredential,
  listCredentials,
  listedCredential,
  readTotpCode,
} from "./credentials.ts";
import { updateCredential } from "./update-credential.ts";

type Deps = { kube: Kube; locks: Locks; secretsKeys: SecretsKeys };
const defineRoute = routesWith<Deps>();

const tag = "Credentials";
const scope = "project";
const path = "/credentials/{id_or_name}";

const CredentialParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The credential's id or name.") });
const theCredential = { description: "The credential, without its values", schema: CredentialAnswer };

export const createCredentialRoute = defineRoute(
  {
    method: "post",
    path: "/credentials",
    operationId: "createCredential",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Store a login",
    body: CreateCredential,
    examples: {
      body: {
        name: "shop",
        domain: "shop.example",
        values: { username: "alice", password: "change-me" },
        totp_secret: "JBSW Y3DP EHPK 3PXP",
      },
    },
    answers: { 201: theCredential },
    errors: ["bad_request", "encryption_key_mismatch", "name_taken"],
  },
  async ({ body, project, deps }) => ({ status: 201, body: await createCredential(body, project, deps) }),
);

export const listCredentialsRoute = defineRoute(
  {
    method: "get",
    path: "/credentials",
    operationId: "listCredentials",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List credentials",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the credential of exactly this name."),
      domain: z.string().max(260).optional().describe("Only credentials for this domain."),
      query: z.string().max(255).optional().describe("Part of the name or domain in any case, or the exact id."),
    }),
    answers: { 200: { description: "The credentials, without their values", schema: z.array(CredentialAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const page = pageOf(await listCredentials(query, project, deps), query);
    const shown = page.body.map((credential) => listedCredential(credential, deps));
    return { ...page, body: await Promise.all(shown) };
  },
);

export const getCredentialRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getCredential",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Get a credential",
    params: CredentialParams,
    answers: { 200: theCredential },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => {
    const credential = await fetchCredential(params.id_or_name, project, deps);
    return { status: 200, body: await credentialAnswer(credential, deps) };
  },
);

export const updateCredentialRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateCredential",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Change a credential; values are merged",
    params: CredentialParams,
    body: UpdateCredential,
    answers: { 200: theCredential },
    errors: ["bad_request", "encryption_key_mismatch", "not_found", "name_taken", "conflict"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: await updateCredential({ idOrName: params.id_or_name, request: body }, project, deps),
  }),
);

export const deleteCredentialRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteCredential",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Delete a credential and its values",
    params: CredentialParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => {
    await deleteCredential(params.id_or_name, project, deps);
    return { status: 204 };
  },
);

export const getTotpCodeRoute = defineRoute(
  {
    method: "get",
    path: `${path}/totp-code`,
    operationId: "getTotpCode",
    tag,
    scope,
    permission: "credentials:totp",
    summary: "The current code of a credential's authenticator",
    isAudited: true,
    params: CredentialParams,
    answers: { 200: { description: "The code", schema: TotpCodeAnswer } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, project, deps }) => {
    const { code, expiresAtMs } = await readTotpCode(params.id_or_name, project, deps);
    const body = { code, expires_at: new Date(expiresAtMs).toISOString() };
    return { status: 200, body, headers: { "Cache-Control": "no-store" } };
  },
);
