import { z } from "zod";
import { Paging, pageOf } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { ProfileAnswer } from "../../core/model/sessions/session-wire.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { downloadProfile } from "./download-profile.ts";
import { CreateProfile, ProfileFormat, UpdateProfile } from "./profile.ts";
import { createProfile, deleteProfile, fetchProfile, listProfiles, profileAnswer, updateProfile } from "./profiles.ts";

type Deps = { blobs: BlobStore; kube: Kube; locks: Locks; store: LeaseStore };
const defineRoute = routesWith<Deps>();

const tag = "Profiles";
const scope = "project";
const path = "/profiles/{id_or_name}";

const ProfileParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The profile's id or name.") });
const theProfile = { description: "The profile", schema: ProfileAnswer };

/** The content type of each form of a download. */
const fileTypes = { "tar.zst": "application/zstd", tar: "application/x-tar" } as const;

export const createProfileRoute = defineRoute(
  {
    method: "post",
    path: "/profiles",
    operationId: "createProfile",
    tag,
    scope,
    permission: "pools:write",
    summary: "Create an empty profile",
    body: CreateProfile,
    answers: { 201: theProfile },
    errors: ["bad_request", "name_taken"],
  },
  async ({ body, project, deps }) => ({ status: 201, body: await createProfile(body, project, deps) }),
);

export const listProfilesRoute = defineRoute(
  {
    method: "get",
    path: "/profiles",
    operationId: "listProfiles",
    tag,
    scope,
    permission: "pools:read",
    summary: "List profiles",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the profile of exactly this name."),
      query: z.string().max(255).optional().describe("Part of the name or the id, in any case."),
    }),
    answers: { 200: { description: "The profiles", schema: z.array(ProfileAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const page = pageOf(await listProfiles(query, project, deps), query);
    return { ...page, body: page.body.map(profileAnswer) };
  },
);

export const getProfileRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getProfile",
    tag,
    scope,
    permission: "pools:read",
    summary: "Get a profile",
    params: ProfileParams,
    answers: { 200: theProfile },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: profileAnswer(await fetchProfile(params.id_or_name, project, deps)),
  }),
);

export const updateProfileRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateProfile",
    tag,
    scope,
    permission: "pools:write",
    summary: "Rename a profile",
    params: ProfileParams,
    body: UpdateProfile,
    answers: { 200: theProfile },
    errors: ["bad_request", "not_found", "name_taken", "conflict"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: await updateProfile({ idOrName: params.id_or_name, request: body }, project, deps),
  }),
);

export const deleteProfileRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteProfile",
    tag,
    scope,
    permission: "pools:write",
    summary: "Delete a profile and its contents",
    params: ProfileParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, project, deps }) => {
    await deleteProfile(params.id_or_name, project, deps);
    return { status: 204 };
  },
);

export const downloadProfileRoute = defineRoute(
  {
    method: "get",
    path: `${path}/download`,
    operationId: "downloadProfile",
    tag,
    scope,
    permission: "profiles:use",
    summary: "Download the contents of a profile",
    isAudited: true,
    params: ProfileParams,
    query: z.object({
      format: ProfileFormat.default("tar.zst").describe(
        "As it is stored, compressed by Zstandard, or the plain archive.",
      ),
    }),
    answers: { 200: { description: "The user-data directory of Chromium", files: Object.values(fileTypes) } },
    errors: ["bad_request", "not_found", "not_supported_here", "unavailable"],
  },
  async ({ params, query: { format }, project, deps, signal }) => {
    const file = await downloadProfile({ idOrName: params.id_or_name, format, project }, deps, signal);
    return {
      status: 200,
      file: { ...file, type: fileTypes[format] },
      headers: { "Cache-Control": "no-store" },
    };
  },
);
